/** The methods of the journal as a whole. */
import * as z from "zod";
import { empty, type MethodSpec } from "./spec.ts";

export const JOURNAL_METHODS = {
  "journal.check": {
    summary: "whether the journal is whole",
    kind: "stream",
    right: "observe",
    params: z
      .strictObject({
        full: z.boolean().optional(),
        processes: z.array(z.string().max(64)).max(1_000).optional(),
      })
      .describe(
        "`processes` are pids or UUIDs; absent: all. `full` also checks every hash, body, snapshot and blob, not only the newest records.",
      ),
    result: undefined,
  },
  "journal.verify": {
    summary: "every hash of the journal, and its roots",
    kind: "stream",
    right: "observe",
    params: z
      .strictObject({
        against: z
          .array(
            z.strictObject({
              lsn: z.int().min(0),
              root: z.hex().length(64),
              previous: z.union([z.literal(""), z.hex().length(64)]),
              at: z.number(),
            }),
          )
          .max(40_000)
          .optional(),
      })
      .describe("`against` are roots that were stored elsewhere."),
    result: undefined,
  },
  "journal.roots": {
    summary: "the roots over all histories, for keeping elsewhere",
    kind: "stream",
    right: "observe",
    params: empty,
    result: undefined,
  },
  "journal.read": {
    summary: "the records of a process, alive or gone",
    kind: "stream",
    right: "observe",
    params: z
      .strictObject({
        process: z.string().min(1).max(64),
        from: z.int().min(1).optional(),
        to: z.int().min(1).optional(),
        last: z.int().min(0).optional(),
        kind: z.string().max(64).optional(),
        follow: z.boolean().optional(),
      })
      .describe(
        "`process` is a pid or UUID. `last` asks for the newest n records instead of those starting at `from`.",
      ),
    result: undefined,
  },
  "journal.collect": {
    summary: "remove what retention lets go",
    kind: "stream",
    right: "admin",
    params: z.strictObject({ dry_run: z.boolean().optional() }),
    result: undefined,
  },
} as const satisfies Record<string, MethodSpec>;
