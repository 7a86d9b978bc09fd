/**
 * In the place of boot/ports.ts: the same ports, each of which notes when it was at work. A file in the state directory has
 * all of it once the daemon has ended.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Parts } from "../../src/boot/parts.ts";
import * as real from "../../src/boot/ports.ts";
import { HostProcesses } from "../../src/dev/host/exec.ts";
import type { KernelPorts } from "../../src/kernel/ports/kernel-ports.ts";
import { ModelFile } from "../../src/llm/file.ts";

/** From … to, by the machine's monotonic clock in ms. */
export type Span = readonly [part: TimedPart, from: number, to: number];
export type TimedPart = "command" | "permission" | "journal" | "driver" | "calls" | "agent";

export const SPANS = "spans.json";

const spans: Span[] = [];
const now = (): number => Number(process.hrtime.bigint()) / 1e6;

export function portsOf(parts: Parts): KernelPorts {
  const ports = real.portsOf(parts);
  const { stateDir } = parts.context.paths;
  process.on("exit", () => writeFileSync(join(stateDir, SPANS), JSON.stringify(spans)));
  timeCommands();
  const { write, plan } = ModelFile.prototype;
  ModelFile.prototype.write = timed("driver", write);
  ModelFile.prototype.plan = timed("driver", plan);
  return {
    ...ports,
    // the intent of a model call is synced while its request is on its way: nobody waits for that sync
    journal: withTimed("journal", ports.journal, ["append", "putBlob"]),
    permitFor: (cwd) =>
      withTimed("permission", ports.permitFor(cwd), ["decide", "ready", "sandbox", "origins"]),
    program: timed("agent", (sys, start) => ports.program(withTimed("calls", sys, undefined), start)),
  };
}

function timeCommands(): void {
  const { run } = HostProcesses.prototype;
  HostProcesses.prototype.run = function (...args) {
    const from = now();
    const child = run.apply(this, args);
    void child.exited.finally(() => spans.push(["command", from, now()]));
    return child;
  };
}

/** `own` with the methods named, or all, timed. */
function withTimed<T extends object>(part: TimedPart, own: T, names: readonly PropertyKey[] | undefined): T {
  const wrapped = new Map<PropertyKey, unknown>();
  return new Proxy(own, {
    get: (_, name) => {
      const value = bound(own, name);
      if (typeof value !== "function" || names?.includes(name) === false) return value;
      if (!wrapped.has(name)) wrapped.set(name, timed(part, value as () => unknown));
      return wrapped.get(name);
    },
  });
}

function bound(own: object, name: PropertyKey): unknown {
  const value: unknown = Reflect.get(own, name, own);
  return typeof value === "function" ? value.bind(own) : value;
}

function timed<T, A extends unknown[], R>(
  part: TimedPart,
  act: (this: T, ...args: A) => R,
): (this: T, ...args: A) => R {
  return function (...args) {
    const from = now();
    const note = (): void => void spans.push([part, from, now()]);
    const result = act.apply(this, args);
    if (result instanceof Promise) void result.then(note, note);
    else note();
    return result;
  };
}
