export { type FaultAction, PlantedFaults } from "./faults.ts";
export { TestPawl, type TestPawlOptions, TestWorker, testPawl } from "./test-pawl.ts";
