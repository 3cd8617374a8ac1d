export {
  type MarketplaceCall,
  type MarketplaceFault,
  type MemoryMarketplace,
  type MemoryMarketplaceOptions,
  memoryMarketplace,
} from "../crowd/marketplaces/memory.ts";
export type { MemoryAssignment, MemoryJob } from "../crowd/marketplaces/memory-jobs.ts";
export type { MemoryWorkers } from "../crowd/marketplaces/memory-workers.ts";
export { type MemoryBroker, type MemoryBrokerOptions, memoryBroker } from "../outbox/brokers/memory.ts";
export {
  type CrashEverywhereOptions,
  crashEverywhere,
} from "./crash-everywhere/crash-everywhere.ts";
export type { CrashPlace, CrashPoint } from "./crash-everywhere/crash-point.ts";
export type { CrashFailure, CrashReport } from "./crash-everywhere/crash-report.ts";
export { type EffectDetails, EffectLedger, type RecordedEffect } from "./effect-ledger.ts";
export type { FailureRoute } from "./explore/check-recoveries.ts";
export type { Budget } from "./explore/check-times.ts";
export type { EventMatrix, MatrixCell } from "./explore/event-matrix.ts";
export type { Mover } from "./explore/exits.ts";
export type { Exploration, ExploredState } from "./explore/exploration.ts";
export { type ExploreOptions, explore } from "./explore/explore.ts";
export type { Finding, FindingCode } from "./explore/finding.ts";
export { type FaultAction, PlantedFaults } from "./faults.ts";
export type { ActKind } from "./simulate/act.ts";
export type { Covered, SimulationCoverage } from "./simulate/coverage.ts";
export type { SimulationRandom } from "./simulate/random.ts";
export { simulate } from "./simulate/simulate.ts";
export type {
  EventContext,
  EventGenerators,
  FakeSteps,
  Invariant,
  SimulatedWorld,
  SimulateOptions,
  StartContext,
  StartGenerators,
} from "./simulate/simulate-options.ts";
export type { SimulationFailure, SimulationReport } from "./simulate/simulation-report.ts";
export { TestPawl, type TestPawlOptions, TestWorker, testPawl } from "./test-pawl.ts";
