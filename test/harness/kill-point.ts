/**
 * Loaded into a daemon with `NODE_OPTIONS=--import`, in its threads too: kills it with SIGKILL at the n-th moment that
 * matters to the journal (CRUX_TEST_KILL_AT=n): before and after each commit, each sync and write by hand, each rename.
 * What the moment was is appended to CRUX_TEST_KILL_LOG. The file CRUX_TEST_KILL_COUNTER counts for all threads: a byte each.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { DatabaseSync, StatementSync } from "node:sqlite";
import threads, { type WorkerOptions } from "node:worker_threads";

const { CRUX_TEST_KILL_AT: at, CRUX_TEST_KILL_LOG: log, CRUX_TEST_KILL_COUNTER: counter } = process.env;

if (at !== undefined && log !== undefined && counter !== undefined) watch(Number(at), log, counter);

function watch(deadly: number, logPath: string, counterPath: string): void {
  const { appendFileSync, statSync, readlinkSync } = fs;
  const moment = (what: string): void => {
    appendFileSync(counterPath, ".");
    if (statSync(counterPath).size !== deadly) return;
    appendFileSync(logPath, `${what}\n`);
    process.kill(process.pid, "SIGKILL");
    // the signal may come a moment later: nothing further happens until then
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  };
  const around = <T>(what: string, act: () => T): T => {
    moment(`before ${what}`);
    const result = act();
    moment(`after ${what}`);
    return result;
  };
  const isCommit = (sql: string): boolean => /^\s*(COMMIT|END)\b/i.test(sql);

  const { exec } = DatabaseSync.prototype;
  DatabaseSync.prototype.exec = function (sql) {
    const act = (): void => exec.call(this, sql);
    return isCommit(sql) ? around("commit", act) : act();
  };
  const { run } = StatementSync.prototype;
  StatementSync.prototype.run = function (this: StatementSync, ...values: Parameters<typeof run>) {
    const act = () => run.apply(this, values);
    return isCommit(this.sourceSQL) ? around("commit", act) : act();
  } as typeof run;

  const isJournal = (fd: unknown): boolean => {
    try {
      return readlinkSync(`/proc/self/fd/${String(fd)}`).includes("/journal/");
    } catch {
      return false;
    }
  };
  const patch = (name: "writeSync" | "fdatasyncSync" | "fsyncSync" | "renameSync", what: string): void => {
    const original = fs[name] as (...values: unknown[]) => unknown;
    const patched = (...values: unknown[]): unknown => {
      const act = (): unknown => original(...values);
      const isOurs = name === "renameSync" ? String(values[1]).includes("/journal/") : isJournal(values[0]);
      return isOurs ? around(what, act) : act();
    };
    Object.assign(fs, { [name]: patched });
  };
  patch("writeSync", "write");
  patch("fdatasyncSync", "sync");
  patch("fsyncSync", "sync");
  patch("renameSync", "rename");
  // a thread that is started without this environment gets it, and this file, all the same
  const { Worker } = threads;
  class WatchedWorker extends Worker {
    constructor(url: string | URL, options: WorkerOptions = {}) {
      super(url, { ...options, env: { ...process.env }, execArgv: ["--import", import.meta.url] });
    }
  }
  Object.assign(threads, { Worker: WatchedWorker });
  syncBuiltinESMExports();
}
