-- Samples that a crowd has posted: its job is told of every label, while others are looked at only when they may have ended.
alter table pawl.samples add column posted boolean not null default false;
