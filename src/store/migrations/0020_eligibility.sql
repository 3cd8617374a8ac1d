-- Whether a sample has an eligible labeler left is decided again when labelers or a queue's settings change. The number rises
-- with every such change, and `eligibility_checked` follows once the samples of the queue were checked, so that a check which a
-- crash interrupted is made up for. Samples that wait in vain today are found by the first check. Adds two columns with defaults
-- to a table of few rows; processes of an earlier version go on as they are.
alter table pawl.queues
  add column eligibility         int not null default 1,
  add column eligibility_checked int not null default 0;

create index queues_unchecked on pawl.queues (name) where eligibility > eligibility_checked;
