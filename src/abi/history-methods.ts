/** Methods on what a process did: its steps, other processes that begin at one of them, and its run once more. */
import * as z from "zod";
import { environment, idempotencyKey, type MethodSpec, pid, text } from "./method-spec.ts";

/** A step by its number, or a record of the process's own history. */
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
    /** `last`: the newest of them (100). */
    params: z.strictObject({ pid, last: z.int().min(1).max(10_000).optional() }),
    /** Oldest first; step 0 is before the first reply. `files`: the first 20; `file_count`: all. `uuid`, `seq`: where it is over. */
    result: z.strictObject({
      pid,
      steps: z.array(
        z.strictObject({
          step: z.int(),
          at: z.string(),
          words: z.string(),
          files: z.array(z.string()),
          file_count: z.int(),
          commands: z.int(),
          uuid: z.string(),
          seq: z.int(),
        }),
      ),
    }),
  },
  "process.fork": {
    summary: "a new process that begins at a step of another and shares its records up to there",
    kind: "request",
    right: "spawn",
    params: z.strictObject({
      pid,
      /** Absent: the last complete step. */
      at: place.optional(),
      /** A message for the new process. */
      text: text.optional(),
      client: z.string().max(64).optional(),
      /** It goes on at once; else it rests. */
      wake: z.boolean().optional(),
      env: environment.optional(),
      idempotency_key: idempotencyKey.optional(),
    }),
    /** `step` null: a record that ends none. `from`, `at`: the last shared record. */
    result: forked,
  },
  "process.rewind": {
    summary: "a fork at a step, and with `files` what the agent has changed since put back",
    kind: "request",
    right: "control",
    params: z.strictObject({
      pid,
      /** Absent: before the last message that it was given. */
      at: place.optional(),
      files: z.boolean().optional(),
      /** Change nothing, say what would be changed. */
      dry_run: z.boolean().optional(),
      /** Also files that somebody else has changed since. */
      force: z.boolean().optional(),
      /** false: only the files; the process itself goes on as it is. Default true. */
      fork: z.boolean().optional(),
    }),
    /** `fork` null: none was wanted, a dry run, or `refused`: somebody else changed what is in `conflicts`, and nothing was touched. */
    result: z.strictObject({
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
    }),
  },
  "process.replay": {
    summary: "run a process again from its records, in memory, and compare",
    kind: "request",
    right: "observe",
    params: z.strictObject({
      pid: pid.optional(),
      /** Instead of a pid: a file of records, absolute. */
      path: z.string().optional(),
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
