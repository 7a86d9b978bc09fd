/** /dev/tty: asks the user that a process works for. Questions are written, their outcome is read. */
import * as z from "zod";
import type { QuestionItem, QuestionOutcome } from "../../abi/ask.ts";
import type { Caller, Device, FileStat } from "../../abi/device.ts";
import type { Pid } from "../../abi/ids.ts";
import { jsonBytes } from "../answer.ts";
import { driverError } from "../driver-error.ts";
import { type Exchange, openExchange } from "../exchange-file.ts";

const MOUNT = "/dev/tty";
const stat: FileStat = { name: "tty", size: 0, isDevice: true, devicePath: MOUNT };

interface TtyDeps {
  /** Rejects when the signal fires. */
  ask(pid: Pid, items: readonly QuestionItem[], signal: AbortSignal): Promise<QuestionOutcome>;
}

const ITEM = z.strictObject({
  question: z.string().min(1).max(2_000),
  header: z.string().min(1).max(12),
  options: z
    .array(z.strictObject({ label: z.string().min(1).max(100), description: z.string().max(1_000) }))
    .min(2)
    .max(4),
  multi_select: z.boolean(),
});
const SHEET = z.array(ITEM).min(1).max(4);

export function ttyDevice(deps: TtyDeps): Device {
  return {
    name: "tty",
    traffic: "message",
    async open(subpath, flags, caller) {
      if (subpath !== "") throw driverError("Open", "NOT_FOUND", `file not found: ${MOUNT}${subpath}`);
      return openExchange(questionsOf(deps, caller), flags, caller);
    },
    stat: async () => stat,
  };
}

function questionsOf(deps: TtyDeps, { pid }: Caller): Exchange {
  return {
    stat,
    plan: (data) => {
      const question = parse(data)
        .map((item) => item.question)
        .join(" / ");
      return { effects: [{ kind: "person", question }], effectClass: "repeat" };
    },
    answer: async (data, _act, signal) => jsonBytes(await deps.ask(pid, parse(data), signal)),
  };
}

function parse(bytes: Uint8Array): readonly QuestionItem[] {
  try {
    return SHEET.parse(JSON.parse(Buffer.from(bytes).toString("utf8")));
  } catch (cause) {
    const issue = cause instanceof z.ZodError ? cause.issues[0] : undefined;
    throw driverError(
      "Write",
      "INVALID",
      `questions: ${(issue?.path ?? []).map(String).join(".")} ${issue?.message ?? "not JSON"}`,
      cause,
    );
  }
}
