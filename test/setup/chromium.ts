import { join } from "node:path";
import { foldersWith, run } from "./find-program.ts";
import type { Service } from "./service.ts";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** The browser in which pages are tested. Nothing runs until a suite opens it: see `test/support/pages/browser.ts`. */
export const chromium: Service = {
  name: "Chromium",
  required: false,
  needs: [],
  packages: ["chromium"],
  howToGet: "install Chromium (apt install chromium, brew install --cask chromium), or set PAWL_CHROMIUM to its path",
  async find() {
    const [path] = [
      ...(process.env.PAWL_CHROMIUM ? [process.env.PAWL_CHROMIUM] : []),
      ...names.flatMap((name) => foldersWith(name, []).map((folder) => join(folder, name))),
      "/Applications/Chromium.app/Contents/MacOS/Chromium",
    ];
    try {
      const { stdout } = await run(path!, ["--version"]);
      return async () => ({ about: stdout.trim(), env: { PAWL_TEST_CHROMIUM: path }, stop: async () => {} });
    } catch {
      return undefined;
    }
  },
};
