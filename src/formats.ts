export {
  type CsvExportOptions,
  type LabelRow,
  type LabelRows,
  labelsToCsv,
  labelsToJsonl,
} from "./people/formats/export-labels.ts";
export {
  type ColumnKind,
  type CsvImportOptions,
  type ImportedLine,
  type ImportOptions,
  type SampleRow,
  samplesFromCsv,
  samplesFromJsonl,
} from "./people/formats/import-samples.ts";
export { type LabelStudioOptions, labelsToLabelStudio } from "./people/formats/label-studio.ts";
export type { ByteStream, ImportCursor } from "./people/formats/lines.ts";
export type { Answer, LabelShape } from "./policy/agreement/label-shape.ts";
