import { lifecycle } from "pawl";

/** Ends at once, in one of two ways, with a short retention. */
export const leaf = lifecycle("leaf", {
  retention: 1,
  initial: "green",
  states: {
    green: { forever: true, on: { fall: "fallen", burn: "burnt" } },
    fallen: { final: "success" },
    burnt: { final: "success" },
  },
});
