/**
 * Loaded into a daemon with `NODE_OPTIONS=--require`, in its threads too: kills it with SIGKILL at the n-th moment that
 * matters to the journal (CRUX_TEST_KILL_AT=n): before and after each commit, each sync and write by hand, each rename.
 * What the moment was is appended to CRUX_TEST_KILL_LOG. The file CRUX_TEST_KILL_COUNTER counts for all threads: a byte each.
 * With CRUX_TEST_KILL_FROM it counts only while there is a file of that name.
 * Plain CommonJS: each of the hundreds of daemons, and each of their threads, would strip the types again.
 */
const fs = require("node:fs");
const { syncBuiltinESMExports } = require("node:module");
const { DatabaseSync, StatementSync } = require("node:sqlite");
const threads = require("node:worker_threads");

const { CRUX_TEST_KILL_AT: at, CRUX_TEST_KILL_LOG: log, CRUX_TEST_KILL_COUNTER: counter } = process.env;
const from = process.env.CRUX_TEST_KILL_FROM ?? "/";

if (at !== undefined && log !== undefined && counter !== undefined) watch(Number(at), log, counter);

/**
 * @param {number} deadly
 * @param {string} logPath
 * @param {string} counterPath
 */
function watch(deadly, logPath, counterPath) {
  const { appendFileSync, existsSync, statSync, readlinkSync } = fs;
  /** @param {string} what */
  const moment = (what) => {
    if (!existsSync(from)) return;
    appendFileSync(counterPath, ".");
    if (statSync(counterPath).size !== deadly) return;
    appendFileSync(logPath, `${what}\n`);
    process.kill(process.pid, "SIGKILL");
    // the signal may come a moment later: nothing further happens until then
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  };
  /** @type {<T>(what: string, act: () => T) => T} */
  const around = (what, act) => {
    moment(`before ${what}`);
    const result = act();
    moment(`after ${what}`);
    return result;
  };
  /** @param {string} sql */
  const isCommit = (sql) => /^\s*(COMMIT|END)\b/i.test(sql);

  const { exec } = DatabaseSync.prototype;
  DatabaseSync.prototype.exec = function (sql) {
    const act = () => exec.call(this, sql);
    return isCommit(sql) ? around("commit", act) : act();
  };
  const run = /** @type {(...values: unknown[]) => any} */ (StatementSync.prototype.run);
  /**
   * @this {import("node:sqlite").StatementSync}
   * @param {unknown[]} values
   */
  StatementSync.prototype.run = function (...values) {
    const act = () => run.apply(this, values);
    return isCommit(this.sourceSQL) ? around("commit", act) : act();
  };

  /** @param {unknown} fd */
  const isJournal = (fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).includes("/journal/");
    } catch {
      return false;
    }
  };
  /** @type {(name: "writeSync" | "fdatasyncSync" | "fsyncSync" | "renameSync", what: string) => void} */
  const patch = (name, what) => {
    const original = /** @type {(...values: unknown[]) => unknown} */ (fs[name]);
    /** @param {unknown[]} values */
    const patched = (...values) => {
      const act = () => original(...values);
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
    /**
     * @param {string | URL} url
     * @param {import("node:worker_threads").WorkerOptions} options
     */
    constructor(url, options = {}) {
      super(url, { ...options, env: { ...process.env }, execArgv: ["--require", __filename] });
    }
  }
  Object.assign(threads, { Worker: WatchedWorker });
  syncBuiltinESMExports();
}
