import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { NodeLifecycle } from "./node-lifecycle.ts";

const EVENTS = ["exit", "uncaughtExceptionMonitor", "SIGTERM", "SIGHUP", "SIGQUIT"];

class FakeProcess extends EventEmitter {
  readonly pid = 7;
  readonly killed: Array<readonly [pid: number, signal: string]> = [];
  kill(pid: number, signal: string): boolean {
    this.killed.push([pid, signal]);
    return true;
  }
  get listening(): number {
    return EVENTS.reduce((sum, event) => sum + this.listenerCount(event), 0);
  }
}

function started() {
  const process = new FakeProcess();
  const lifecycle = new NodeLifecycle(process as unknown as NodeJS.Process);
  let undone = 0;
  const release = lifecycle.onEnd(() => void undone++);
  return { process, lifecycle, release, undone: () => undone };
}

test.each(["exit", "uncaughtExceptionMonitor"])("onEnd() undoes at %s", (event) => {
  const { process, undone } = started();
  process.emit(event);
  expect([undone(), process.killed]).toEqual([1, []]);
});

test.each(["SIGTERM", "SIGHUP", "SIGQUIT"])(
  "onEnd() undoes at %s, which then ends the process as ever",
  (signal) => {
    const { process, undone } = started();
    process.emit(signal, signal);
    expect([undone(), process.killed, process.listening]).toEqual([1, [[7, signal]], 0]);
  },
);

test("onEnd() that is taken back leaves nothing behind", () => {
  const { process, release, undone } = started();
  expect(process.listening).toBe(EVENTS.length);
  release();
  expect([undone(), process.listening]).toEqual([0, 0]);
});
