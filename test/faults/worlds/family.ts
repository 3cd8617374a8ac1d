import { lifecycle } from "../../../src/definition/lifecycle.ts";

/** A child that gets one event and ends. A second event would show in its history. */
export const kid = lifecycle("kid", {
  initial: "waiting",
  states: {
    waiting: { forever: true, on: { poke: "growing" } },
    growing: { run: async (step) => step.go("grown"), on: { poke: {}, grown: "done" } },
    done: { final: "success" },
  },
});

export const kidsWithKey = 20;
export const kidsWithout = 5;

/** Starts its children, sends something to each, and waits for them. No schemas: programs that are killed start quickly. */
export const parent = lifecycle("parent", {
  initial: "bearing",
  states: {
    bearing: {
      run: async (step) => {
        for (let place = 0; place < kidsWithKey; place++) step.start(kid, { key: `k${place}` });
        for (let place = 0; place < kidsWithout; place++) step.start(kid);
      },
      on: { borne: "telling" },
    },
    telling: {
      run: async (step) => {
        for (const child of await step.children(kid)) step.send(kid, child, "poke");
      },
      on: { told: "joining" },
    },
    joining: { join: {}, timeout: { after: "1h", send: "fail" }, on: { joined: "done" } },
    done: { final: "success" },
  },
});
