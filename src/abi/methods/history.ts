/** Methods on the history of a process: its steps, forks that begin at one of them, and replays. */
import * as z from "zod";
import { SpawnRequest } from "./process.ts";
import { environment, idempotencyKey, type MethodSpec, pid, text } from "./spec.ts";

/** A step number, or the sequence number of a record in the process's own history. */
const place = z.union([z.strictObject({ step: z.int().min(0) }), z.strictObject({ seq: z.int().min(0) })]);

const forked = z.strictObject({
  pid,
  uuid: z.string(),
  step: z.int().nullable(),
  from: z.string(),
  at: z.int(),
});

export const HISTORY_METHODS = {
  "process.steps": {
    summary: "the steps of an agent, which a fork or a rewind goes back to",
    kind: "request",
    right: "observe",
    params: z
      .strictObject({ pid, last: z.int().min(1).max(10_000).optional() })
      .describe("`last` is the number of newest steps to return, default 100."),
    result: z
      .strictObject({
        pid,
        steps: z.array(
          z.strictObject({
            step: z.int(),
            at: z.string(),
            words: z.string(),
            asked: z.array(z.string()),
            files: z.array(z.string()),
            file_count: z.int(),
            commands: z.int(),
            uuid: z.string(),
            seq: z.int(),
          }),
        ),
      })
      .describe(
        "Oldest first; step 0 is before the first reply. `asked` holds the messages since the step before, each cut at 1,000 characters. `files` holds the first 20 changed files, `file_count` the number of all. `uuid` and `seq` name the record where the step ends.",
      ),
  },
  "process.fork": {
    summary: "a new process that begins at a step of another and shares its records up to there",
    kind: "request",
    right: "spawn",
    params: z.strictObject({
      pid,
      at: place.optional().describe("Where the fork begins; absent: after the last complete step."),
      text: text.optional().describe("Message for the new process."),
      client: z.string().max(64).optional(),
      wake: z.boolean().optional().describe("Run the fork at once; otherwise it rests."),
      env: environment.optional(),
      uuid: SpawnRequest.shape.uuid,
      idempotency_key: idempotencyKey.optional(),
    }),
    result: forked.describe(
      "`step` is null when the fork does not begin at the end of a step. `from` and `at` name the last shared record.",
    ),
  },
  "process.rewind": {
    summary: "a fork at a step, and with `files` what the agent has changed since put back",
    kind: "request",
    right: "control",
    params: z.strictObject({
      pid,
      at: place
        .optional()
        .describe("Where to go back to; absent: just before the last message it was given."),
      files: z.boolean().optional(),
      dry_run: z.boolean().optional().describe("Change nothing; report what would change."),
      force: z.boolean().optional().describe("Also put back files that somebody else has changed since."),
      fork: z
        .boolean()
        .optional()
        .describe("False: put back files only, and make no new process. Default true."),
    }),
    result: z
      .strictObject({
        pid,
        step: z.int().nullable(),
        seq: z.int(),
        refused: z.boolean(),
        files: z.array(
          z.strictObject({
            path: z.string(),
            deed: z.enum(["restored", "recreated", "removed", "unchanged", "kept"]),
            reason: z.string(),
            insertions: z.int(),
            deletions: z.int(),
          }),
        ),
        conflicts: z.array(z.string()),
        commands: z.array(z.string()),
        command_count: z.int(),
        fork: forked.nullable(),
      })
      .describe(
        "`fork` is null without a fork, after a dry run, or when `refused` is true: somebody else changed the files in `conflicts`, and nothing was changed.",
      ),
  },
  "process.replay": {
    summary: "run a process again from its records, in memory, and compare",
    kind: "request",
    right: "observe",
    params: z.strictObject({
      pid: pid.optional(),
      path: z.string().optional().describe("Absolute path of a file of records, instead of a pid."),
      to: z.int().min(0).optional(),
    }),
    result: z.strictObject({
      pid,
      steps: z.int(),
      records: z.int(),
      runs: z.int(),
      recorded: z.array(z.string()),
      version: z.string(),
      outcome: z.enum(["same", "differs", "incomplete"]),
      difference: z
        .strictObject({ seq: z.int(), what: z.string(), expected: z.string(), got: z.string() })
        .optional(),
      reason: z.string().optional(),
    }),
  },
  "process.records": {
    summary: "what clients saw of a process, record by record",
    kind: "stream",
    right: "observe",
    params: z.strictObject({ pid }),
    result: undefined,
  },
} as const satisfies Record<string, MethodSpec>;
