-- Tokens of leases are random numbers that the process makes. Those of a sequence could come twice: a standby that is promoted
-- without the last of what the primary wrote counts on from an earlier value, and a worker from before held a token that was
-- valid again. The order of attempts, which tokens told so far, has a column of its own: its sequence may count on from an
-- earlier value, since the rows after that value are lost with it. It goes on where tokens ended.
-- Adds columns without a default to pawl.attempts, and changes defaults, under an exclusive lock for a moment. Processes of the
-- version before go on, and use pawl.tokens until they are replaced.

create sequence pawl.attempt_positions;

alter table pawl.attempts add column position bigint, add column visit int;
alter table pawl.attempts alter column position set default nextval('pawl.attempt_positions');
alter sequence pawl.attempt_positions owned by pawl.attempts.position;
select setval('pawl.attempt_positions', (select last_value from pawl.tokens));

-- 0: nobody holds it.
alter table pawl.tasks alter column token set default 0;
