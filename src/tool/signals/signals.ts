/** signals: for a short time the process takes a signal in another way than by default. */
import * as z from "zod";
import { SIGNALS } from "../../abi/process.ts";
import { defineTool, type Outcome, type RunContext } from "../tool.ts";
import text from "./signals.md";

const MAX_MS = 120_000;

const Args = z.object({
  op: z.enum(["block", "unblock", "message", "ignore", "default"]),
  // a pause is the user's way to hold an agent: no agent puts it off
  signal: z.enum(["SIGTERM", "SIGINT"]),
  duration_ms: z.int().min(1).max(MAX_MS).default(30_000).describe("block, message, ignore: how long"),
});
type Args = z.output<typeof Args>;

const Meta = z.strictObject({
  signal: z.string(),
  taken: z.enum(["blocked", "message", "ignored", "default"]),
});

export const signals = defineTool({
  name: "signals",
  hint: "block ignore handle own signals SIGTERM SIGINT",
  text,
  args: Args,
  meta: Meta,
  // it ends by itself after a short time, and changes nothing outside this process
  readOnly: true,
  destructive: () => false,
  effects: () => [{ kind: "state", path: "/proc/self/signals" }],
  view: ({ op, signal }) => ({ operation: `${op} ${signal}`, params: {} }),
  about: ({ op, signal }) => `${op} ${signal}`,
  activity: ({ op, signal }) => `Signals: ${op} ${signal}`,
  run,
});

async function run({ op, signal, duration_ms: ms }: Args, { sys, pid }: RunContext): Promise<Outcome> {
  const number = SIGNALS[signal];
  const time = `for ${ms / 1000} s`;
  switch (op) {
    case "block":
      await sys.sigBlock(pid, number, ms);
      return {
        text: `${signal} waits ${time}, or until you unblock it.`,
        meta: { signal, taken: "blocked" },
      };
    case "message":
      await sys.sigHandle(number, "message", ms);
      return { text: `${signal} comes as a message ${time}.`, meta: { signal, taken: "message" } };
    case "ignore":
      await sys.sigHandle(number, "ignore", ms);
      return { text: `${signal} is ignored ${time}.`, meta: { signal, taken: "ignored" } };
    case "unblock":
    case "default":
      // first the action, so that a signal that waited finds it
      if (op === "default") await sys.sigHandle(number, "default");
      await sys.sigUnblock(pid, number);
      return { text: `${signal} is no longer blocked.`, meta: { signal, taken: "default" } };
  }
}
