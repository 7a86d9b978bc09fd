/** sleep: waits until the time is over or something arrives for the process. */
import * as z from "zod";
import { defineTool } from "../tool.ts";
import text from "./sleep.md";

const Args = z.object({ duration_ms: z.int().min(1).max(3_600_000) });

const Meta = z.strictObject({ woken_by: z.enum(["timer", "message", "signal"]) });

const WORDS = {
  timer: "The time is over.",
  message: "A message came.",
  signal: "A signal came.",
  exit: "The time is over.",
  detached: "The time is over.",
} as const;

export const sleep = defineTool({
  name: "sleep",
  hint: "wait pause delay timer",
  text,
  args: Args,
  meta: Meta,
  readOnly: true,
  parallel: true,
  destructive: () => false,
  effects: () => [{ kind: "state", path: "/proc/self" }],
  view: ({ duration_ms: ms }) => ({ operation: `wait ${ms} ms`, params: {} }),
  activity: ({ duration_ms: ms }) => `Waiting ${Math.round(ms / 1000)} s`,
  async run({ duration_ms: ms }, { sys, signal }) {
    const wokenBy = await sys.sleep(ms, signal);
    return { text: WORDS[wokenBy], meta: { woken_by: wokenBy } };
  },
});
