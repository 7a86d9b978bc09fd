/**
 * Runs of a team (team-run.ts), one after another, each of which loses its daemon at one moment of the journal and the next one
 * while that recovers. What each run has left is looked at once it has come to its end by itself.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "vitest";
import { SIGNALS } from "../../src/abi/process.ts";
import type { ModelRequest } from "../model-server/request.ts";
import { type ModelServer, startModelServer } from "../model-server/server.ts";
import { DoomedDaemon, momentsMet } from "./doomed-daemon.ts";
import { modelEnv } from "./model.ts";
import {
  AT_ONCE,
  answerTo,
  askedIn,
  BELOW,
  callsOf,
  endsTold,
  freedTold,
  hasSent,
  NAP,
  restsTold,
  TASKS,
  told,
  WRITERS,
  wordOf,
} from "./team-run.ts";
import type { Wire } from "./wire.ts";
import { settled, World } from "./world.ts";

/** The moments of a daemon's start and of what it does first: the second kill comes at one after another of these. */
const RECOVERY = 60;
const STRIDE = 23;
const NARROW = "---\nname: narrow\ndescription: d\ndisallowedTools: write, edit, multi_edit\n---\nDo it.\n";
const MODE = "accept_edits";

interface Listed {
  readonly pid: number;
  readonly mode: string;
}

interface Body {
  readonly intent?: string;
  readonly reason?: string;
  readonly mode?: string;
}

/** By who and run: the last request, and every list of tools that came with one. */
interface Seen {
  last: ModelRequest;
  readonly tools: Set<string>;
}

export class TeamLives {
  readonly #world = new World();
  readonly #main = join(this.#world.work, "main");
  readonly #seen = new Map<string, Seen>();
  #server: ModelServer | undefined;
  #env: Record<string, string> = {};
  #run = 0;

  static async open(): Promise<TeamLives> {
    const lives = new TeamLives();
    await lives.#open();
    return lives;
  }

  async #open(): Promise<void> {
    const world = this.#world;
    mkdirSync(this.#main);
    this.#git("init", "-q");
    this.#git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "first");
    world.write("main/ledger", "");
    world.write("../config/crux/agents/narrow.md", NARROW);
    const limits = { children: AT_ONCE, spawnsPerMinute: 10_000, spawnsPerDay: 100_000 };
    world.settings({ agents: { limits } });
    this.#server = await startModelServer({
      script: (request) => {
        const asked = askedIn(request);
        const key = `${asked?.who} ${asked?.run}`;
        const seen = this.#seen.get(key) ?? { last: request, tools: new Set() };
        seen.last = request;
        seen.tools.add([...request.tools].sort().join(" "));
        this.#seen.set(key, seen);
        return answerTo(request);
      },
      keepRequests: 4,
    });
    this.#env = { ...world.env, ...modelEnv(this.#server) };
  }

  /** What each kill met. */
  get kills(): readonly string[] {
    return momentsMet(this.#world);
  }

  /** A run whose daemon dies at that moment of it, and again in the next start. False: the run had ended before. */
  async live(moment: number): Promise<boolean> {
    const at = `run ${this.#run}`;
    const daemon = new DoomedDaemon(this.#world, moment, this.#env, false);
    const wire = await this.#look(daemon);
    daemon.arm();
    const lead = { intent: `lead ${this.#run}`, cwd: this.#main, env: this.#env, detach: true };
    const pid = (await wire.ask("spawn", { ...lead, permission_mode: MODE }))?.payload?.pid;
    const ended = pid === undefined ? undefined : await wire.ask("process.wait", { pid });
    await daemon.kill();
    await wire.close();
    await this.#nothingLeft(at);
    const [first] = this.#started().get("lead") ?? [];
    expect(pid === undefined || pid === first, `${at}: who was told of is there`).toBe(true);
    await this.#dieAgain(first);
    await this.#nothingLeft(`${at}, second kill`);
    this.#run++;
    return ended === undefined;
  }

  /** The last run comes to its end, too, in a daemon that ends as it should. */
  async finish(): Promise<void> {
    const wire = await this.#look(new DoomedDaemon(this.#world, 0, this.#env));
    await wire.close();
  }

  async close(): Promise<void> {
    await this.#server?.close();
    await this.#world.close();
  }

  async #dieAgain(lead: number | undefined): Promise<void> {
    const daemon = new DoomedDaemon(this.#world, 1 + (((this.#run + 1) * STRIDE) % RECOVERY), this.#env);
    const wire = await daemon.connect();
    if (lead !== undefined && wire !== undefined) await this.#untilOver(wire, lead);
    await daemon.kill();
    await wire?.close();
  }

  /** The run before goes on by itself; then what it has left is as if nobody had been killed. */
  async #look(daemon: DoomedDaemon): Promise<Wire> {
    const wire = await daemon.connect();
    if (wire === undefined) throw new Error(`the daemon does not start: ${this.#world.log().slice(-2_000)}`);
    this.#run--;
    const at = `run ${this.#run}, killed ${this.kills.slice(-2).join(", then ")}`;
    const [lead] = this.#started().get("lead") ?? [];
    if (lead !== undefined) {
      await this.#sameModes(wire, at);
      await this.#untilOver(wire, lead);
      this.#ended(at);
      this.#told(at);
      this.#done(at);
    }
    this.#run++;
    return wire;
  }

  /** A lead whose start nobody was told of waits for a person, who says `crux cont`. */
  async #untilOver(wire: Wire, lead: number): Promise<void> {
    await wire.ask("process.signal", { pid: lead, signal: SIGNALS.SIGRESUME, env: this.#env });
    await wire.ask("process.wait", { pid: lead });
  }

  /** Those below the lead go on by themselves: nobody says `crux cont`, also to one that was being read when its daemon died. */
  async #sameModes(wire: Wire, at: string): Promise<void> {
    const { processes = [] } = ((await wire.ask("list_procs", {}))?.payload ?? {}) as {
      processes?: Listed[];
    };
    for (const { pid, mode } of processes) expect([pid, mode], `${at}: the mode`).toEqual([pid, MODE]);
  }

  /** Each was started once and has ended once. */
  #ended(at: string): void {
    const started = this.#started();
    const all = ["lead", ...BELOW].sort();
    expect([...started].flatMap(([who, pids]) => pids.map(() => who)).sort(), at).toEqual(all);
    const names = new Map([...started].map(([who, [pid]]) => [pid, who]));
    const ends = this.#records("process.exited").flatMap(({ pid, body }) =>
      names.has(pid) ? [`${names.get(pid)} ${body.reason}`] : [],
    );
    const how: Record<string, string> = {
      ann: "killed: SIGTERM",
      bob: "killed: SIGTERM",
      cay: "OpenAI answered 400: it answers no more",
    };
    const wanted = all.map((who) => `${who} ${how[who] ?? "completed"}`);
    expect(ends.sort(), at).toEqual(wanted);
  }

  /** The lead has been told of each end, each result and each rest once, and of what one that failed has left. */
  #told(at: string): void {
    const { last } = this.#of("lead");
    // what `stop` has ended is news only where its answer was lost
    const ends = endsTold(last).filter((each) => !/^(ann|bob) /.test(each));
    expect([...ends].sort(), at).toEqual([
      "back completed",
      "cay failed",
      "late completed",
      "tree completed",
    ]);
    const rests = restsTold(last);
    expect([...rests].sort(), at).toEqual([...new Set(rests)].sort());
    expect(freedTold(last), at).toEqual([expect.stringMatching(`^\\d+ \\(Three ${this.#run}\\)`)]);
    const calls = callsOf(last);
    const results = calls.flatMap(({ call, result }) => (call.name === "agent" ? [result] : []));
    expect([results.length, results[0]], at).toEqual([7, expect.stringMatching(/^fore is done\./)]);
    const tasks = calls.findLast(({ call }) => call.input.tool === "task_list")?.result;
    for (const [n, name] of TASKS.entries()) {
      const who = ["ann", "bob", "cay"][n] ?? "";
      const ofOwner = `${at}\n${who}: ${JSON.stringify(callsOf(this.#of(who).last))}`;
      expect(tasks, ofOwner).toMatch(new RegExp(`^\\d+ \\[completed.*\\] ${name} ${this.#run}$`, "m"));
    }
    // what was acknowledged has come, and nothing twice
    const words = told(this.#of("bob").last).split(wordOf(this.#run)).length - 1;
    if (hasSent(this.#of("ann").last)) expect(words, `${at}: the word`).toBe(1);
    else expect(words, `${at}: the word`).toBeLessThan(2);
  }

  /** Each command has had one effect, one worktree is there with its work, and nobody has had another tool than before. */
  #done(at: string): void {
    const own = `-${this.#run}`;
    const lines = readFileSync(join(this.#main, "ledger"), "utf8").split("\n");
    const written = lines.filter((line) => line.endsWith(own)).sort();
    const silent = WRITERS.filter((who) => !written.includes(who + own));
    const calls = silent.map((who) => `${who}: ${JSON.stringify(callsOf(this.#of(who).last))}`);
    expect(written, [at, ...calls].join("\n")).toEqual(WRITERS.map((who) => who + own).sort());
    // what was made, or half made, for an agent that then was not started may be there, and has nothing of anybody
    const trees = join(this.#main, ".crux/worktrees");
    const grown = readdirSync(trees).flatMap((name) => {
      const file = join(trees, name, "grown");
      const work = existsSync(file) ? [readFileSync(file, "utf8")] : [];
      for (const path of [join(trees, name), join(this.#main, ".git/worktrees", name)])
        rmSync(path, { recursive: true, force: true });
      return work;
    });
    expect(grown, at).toEqual([`tree${own}\n`]);
    for (const who of ["lead", ...BELOW])
      expect([...this.#of(who).tools], `${at}: tools of ${who}`).toHaveLength(1);
    expect(
      readdirSync(this.#main).filter((name) => name.startsWith("beyond")),
      at,
    ).toEqual([]);
  }

  /** Programs of the host that a daemon has left, with those that have no environment. */
  async #nothingLeft(at: string): Promise<void> {
    const left = (): string[] => [...this.#world.processes().map(String), ...naps()];
    const none = await settled(left, ({ length }) => length === 0);
    expect(none, `${at}: programs that outlive their daemon`).toEqual([]);
  }

  #of(who: string): Seen {
    const seen = this.#seen.get(`${who} ${this.#run}`);
    if (seen === undefined) throw new Error(`${who} of run ${this.#run} has asked nothing`);
    return seen;
  }

  /** By name: the pids that were started for that part of this run. */
  #started(): Map<string, number[]> {
    const found = new Map<string, number[]>();
    for (const { pid, body } of this.#records("process.spawned")) {
      const [, who, run] = /^(\w+) (\d+)\b/.exec(body.intent ?? "") ?? [];
      if (who !== undefined && Number(run) === this.#run) found.set(who, [...(found.get(who) ?? []), pid]);
    }
    return found;
  }

  #records(kind: string): { readonly pid: number; readonly body: Body }[] {
    if (this.#run < 0) return [];
    const path = join(this.#world.dir, "state/crux/journal/journal.db");
    const db = new DatabaseSync(path, { readOnly: true });
    try {
      const rows = db.prepare("SELECT pid, body FROM records WHERE kind = ? ORDER BY lsn").all(kind);
      return rows.map(({ pid, body }) => ({ pid: Number(pid), body: JSON.parse(String(body)) as Body }));
    } finally {
      db.close();
    }
  }

  #git(...args: string[]): string {
    return execFileSync("git", args, { cwd: this.#main, stdio: "pipe" }).toString().trim();
  }
}

function naps(): string[] {
  return readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "utf8").includes(NAP);
    } catch {
      // gone meanwhile
      return false;
    }
  });
}
