-- How many callbacks came by a token, so that the holder of one cannot store any number of them.
-- Adds a column with a default to pawl.callback_tokens, under an exclusive lock for a moment; processes of the version before
-- go on, and do not count.

alter table pawl.callback_tokens add column uses int not null default 0;
