/** /dev/tty: the person a process works for. Questions are written, what became of them is read. */
import * as z from "zod";
import {
  type Caller,
  type Device,
  type FileStat,
  O_RDWR,
  type OpenFile,
  type WritePlan,
} from "../../abi/device.ts";
import type { Pid } from "../../abi/ids.ts";
import type { QuestionItem, QuestionOutcome } from "../../abi/question.ts";
import { linkSignals } from "../../lib/abort.ts";
import { Answer, jsonBytes } from "../answer.ts";
import { cancelled, driverError, throwIfAborted } from "../driver-error.ts";

const MOUNT = "/dev/tty";
const stat: FileStat = { name: "tty", size: 0, isDevice: true, devicePath: MOUNT };

export interface TtyDeps {
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
  multiSelect: z.boolean(),
});
const SHEET = z.array(ITEM).min(1).max(4);

export function ttyDevice(deps: TtyDeps): Device {
  return {
    name: "tty",
    traffic: "message",
    async open(subpath, flags, caller) {
      if (subpath !== "") throw driverError("Open", "NOT_FOUND", `file not found: ${MOUNT}${subpath}`);
      if (flags !== O_RDWR)
        throw driverError("Open", "INVALID", `open ${MOUNT} for reading and writing (flags 2)`);
      return new TtyFile(deps, caller);
    },
    stat: async () => stat,
  };
}

class TtyFile implements OpenFile {
  readonly #deps: TtyDeps;
  readonly #caller: Caller;
  readonly #answer = new Answer("tty");
  readonly #closed = new AbortController();

  constructor(deps: TtyDeps, caller: Caller) {
    this.#deps = deps;
    this.#caller = caller;
  }

  plan(bytes: Uint8Array): WritePlan {
    const question = parse(bytes)
      .map((item) => item.question)
      .join(" / ");
    return { effects: [{ kind: "person", question }], effectClass: "repeat" };
  }

  async write(bytes: Uint8Array, act: { readonly signal: AbortSignal }): Promise<void> {
    this.#answer.expectRequest();
    const items = parse(bytes);
    using linked = linkSignals(act.signal, this.#closed.signal, this.#caller.signal);
    throwIfAborted(linked.signal, "Write");
    try {
      this.#answer.set(jsonBytes(await this.#deps.ask(this.#caller.pid, items, linked.signal)));
    } catch (error) {
      throw linked.signal.aborted ? cancelled("Write") : error;
    }
  }

  async read(length: number, signal: AbortSignal): Promise<Uint8Array> {
    throwIfAborted(signal, "Read");
    return this.#answer.take(length);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#answer.clear();
  }

  async stat(): Promise<FileStat> {
    return stat;
  }
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
