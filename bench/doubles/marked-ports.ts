/**
 * In the place of boot/ports.ts: the same ports, which note how far each new agent has come. A file in the state directory has all
 * of it once the daemon has ended.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProgramStart } from "../../src/abi/program.ts";
import type { Sys } from "../../src/abi/sys.ts";
import type { Parts } from "../../src/boot/parts.ts";
import * as real from "../../src/boot/ports.ts";
import type { Journal } from "../../src/kernel/ports/journal.ts";
import type { KernelPorts } from "../../src/kernel/ports/kernel-ports.ts";

/** By the machine's monotonic clock in ms, in this order. */
export interface Marks {
  /** Its first record is given to the journal. */
  recording: number;
  /** It is synced, and the start goes on. */
  recorded: number;
  /** Its program begins. */
  begun: number;
  /** Its first request is written to the device of its model. */
  requested: number;
}

export const MARKS = "marks.json";

const marks: Record<number, Partial<Marks>> = {};

export function portsOf(parts: Parts): KernelPorts {
  const ports = real.portsOf(parts);
  const { stateDir } = parts.context.paths;
  process.on("exit", () => writeFileSync(join(stateDir, MARKS), JSON.stringify(marks)));
  return {
    ...ports,
    journal: instead(ports.journal, "append", (append): Journal["append"] => async (drafts, options) => {
      const spawned = drafts.find(({ kind }) => kind === "process.spawned");
      if (spawned === undefined) return append(drafts, options);
      mark(spawned.pid, "recording");
      const places = await append(drafts, options);
      mark(spawned.pid, "recorded");
      return places;
    }),
    program: (sys, start) => {
      mark(start.pid, "begun");
      return ports.program(noting(sys, start), start);
    },
  };
}

function noting(sys: Sys, { pid, modelFd }: Pick<ProgramStart, "pid" | "modelFd">): Sys {
  return instead(sys, "write", (write): Sys["write"] => (fd, ...rest) => {
    if (fd === modelFd) mark(pid, "requested");
    return write(fd, ...rest);
  });
}

/** `own` with another in the place of one of its methods. */
function instead<T extends object, N extends keyof T>(own: T, method: N, make: (real: T[N]) => T[N]): T {
  const bound = (name: PropertyKey): unknown => {
    const value: unknown = Reflect.get(own, name, own);
    return typeof value === "function" ? value.bind(own) : value;
  };
  const made = make(bound(method) as T[N]);
  return new Proxy(own, { get: (_, name) => (name === method ? made : bound(name)) });
}

/** The first time counts. */
function mark(pid: number, point: keyof Marks): void {
  marks[pid] ??= {};
  marks[pid][point] ??= Number(process.hrtime.bigint()) / 1e6;
}
