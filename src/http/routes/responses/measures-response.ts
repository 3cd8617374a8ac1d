import {
  about,
  anything,
  flag,
  id,
  listOf,
  mapOf,
  moment,
  named,
  number,
  orNull,
  shape,
  text,
  whole,
} from "../../api/schema.ts";
import type { ExportedLabelResponse, MetricsResponse, QualityResponse, QueueStatsResponse } from "../../contract.ts";

const share = orNull(number);
const rates = { completionRate: share, skipRate: share, expireRate: share };

export const metrics = named(
  "Metrics",
  shape<MetricsResponse>({
    total: whole,
    byStatus: shape<MetricsResponse["byStatus"]>({
      pending: whole,
      in_progress: whole,
      completed: whole,
      expired: whole,
      skipped: whole,
    }),
    expired: about(
      shape<MetricsResponse["expired"]>({ neverStarted: whole, unfinished: whole, released: whole }),
      "The expired ones by cause: not started in time, not finished in time, released by a lead.",
    ),
    ...rates,
    ofClosed: shape<MetricsResponse["ofClosed"]>(rates),
    avgTimeToComplete: about(share, "The mean time from start to label, in seconds."),
    avgAttempts: share,
    late: whole,
    rejected: whole,
    gold: shape<MetricsResponse["gold"]>({ labels: whole, right: whole, accuracy: share }),
  }),
);

export const queueStats = named(
  "QueueStats",
  shape<QueueStatsResponse>({
    queue: text,
    waiting: about(whole, "Labels that can be assigned now; at most 100,000 are counted."),
    assigned: about(whole, "Assignments that labelers hold."),
    late: about(whole, "Late labels that await a lead's decision."),
    metrics,
  }),
);

const field = shape<QualityResponse["agreement"]["fields"][string]>({
  kind: text,
  scale: text,
  labels: whole,
  samples: whole,
  agreement: share,
  alpha: about(share, "Krippendorff's alpha: agreement beyond chance."),
});

export const quality = named(
  "Quality",
  shape<QualityResponse>({
    agreement: shape<QualityResponse["agreement"]>({
      fields: mapOf(field),
      agreement: share,
      alpha: share,
      weakest: about(orNull(text), "The field with the lowest alpha; its question may be unclear."),
    }),
    labelers: listOf(shape<QualityResponse["labelers"][number]>({ labeler: text, labels: whole, agreement: share })),
    gold: listOf(
      shape<QualityResponse["gold"][number]>({
        labeler: text,
        labels: whole,
        right: whole,
        accuracy: number,
        interval: listOf(number),
      }),
    ),
  }),
);

export const exportedLabel = shape<ExportedLabelResponse>(
  {
    id,
    sample: shape<ExportedLabelResponse["sample"]>({ id, key: orNull(text), data: anything }),
    labeler: text,
    label: anything,
    skipped: flag,
    late: flag,
    leadMs: orNull(number),
    createdAt: moment,
  },
  ["skipped", "late"],
);
