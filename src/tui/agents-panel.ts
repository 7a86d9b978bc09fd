/** The agents that work below this session: read while there are any, shown below the mode line, chosen by keys. */
import type { Params } from "../abi/methods/methods.ts";
import type { WireRow } from "../abi/methods/process.ts";
import {
  chosenOf,
  followed,
  onPanelKey,
  PANEL_AT_START,
  type PanelKey,
  type PanelState,
} from "../abi/panel/keys.ts";
import {
  dismissed,
  hasEnded,
  left,
  nextEviction,
  type PanelAgent,
  type PanelMarks,
  type PanelRow,
  panelRows,
  viewed,
} from "../abi/panel/rows.ts";
import { SIGNALS } from "../abi/process.ts";
import type { DaemonClient } from "../cli/daemon/client.ts";
import { allProcesses } from "../cli/daemon/processes.ts";
import type { App } from "./app.ts";
import type { Press } from "./editor/keys.ts";
import { agentsBelow } from "./state/agents.ts";
import { placeOfCall } from "./state/model.ts";
import type { Line } from "./text/line.ts";
import type { EntryLook } from "./view/entry-lines.ts";
import { panelLines, workText } from "./view/panel-lines.ts";

/** How often it looks while an agent works, in ms. */
const LOOK_MS = 500;
/** Fewer have one row for all of them. */
const ROOMY_ROWS = 22;
const KEYS: Readonly<Record<string, PanelKey>> = {
  ...{ up: "up", down: "down", enter: "enter", escape: "escape", "shift+down": "shift_down" },
  "ctrl+b": "ctrl_b",
};

export class AgentsPanel implements Disposable {
  readonly #app: App;
  #agents: readonly PanelAgent[] = [];
  #marks: PanelMarks = new Map();
  #state: PanelState = PANEL_AT_START;
  /** The one that the cursor is on. */
  #chosen: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Kept from one look to the next while there are any. */
  #connection: DaemonClient | undefined;
  #isLooking = false;
  #isOver = false;
  /** The one whose view is open. */
  #viewing: string | undefined;

  constructor(app: App) {
    this.#app = app;
  }

  /** How many it remembers. */
  get count(): number {
    return this.#agents.length;
  }

  lines(look: EntryLook): readonly Line[] {
    const rows = this.#rows();
    return panelLines(followed(this.#state, rows, this.#chosen), rows, {
      ...look,
      isTight: this.#app.size.rows < ROOMY_ROWS,
    });
  }

  /** There may be agents below the session. */
  async look(): Promise<void> {
    if (this.#isLooking || this.#isOver) return;
    this.#isLooking = true;
    clearTimeout(this.#timer);
    try {
      const rows = await this.#table();
      // a new daemon does not have the session, and what is below it, at once
      if (rows.some(({ pid }) => pid === this.#app.pid)) this.#learn(rows);
    } catch {
      // the daemon is gone: what was known stays until it is back
      this.#hangUp();
    } finally {
      this.#isLooking = false;
    }
    this.#later();
  }

  #learn(rows: readonly WireRow[]): void {
    const agents = agentsBelow(this.#app.pid, rows, this.#shown(), {
      now: Date.now(),
      asksYou: this.#app.words.panel.asksYou,
      placeOf: (call) => placeOfCall(this.#app.model, call),
    });
    const ids = new Set(agents.map(({ agentId }) => agentId));
    this.#marks = new Map([...this.#marks].filter(([id]) => ids.has(id)));
    this.#leaveEnded(agents);
    if (JSON.stringify(agents) === JSON.stringify(this.#agents)) {
      // its view says for how long it has worked
      if (this.#viewing !== undefined) this.#app.changed();
      return;
    }
    this.#agents = agents;
    this.#app.changed();
  }

  /** True: the key was the panel's. */
  key(press: Press): boolean {
    const key = press.kind === "key" ? KEYS[press.name] : undefined;
    const { buffer, place } = this.#app.editing;
    if (key === undefined) {
      // whoever types has left the panel
      this.#state = { ...this.#state, footerSelection: null };
      return false;
    }
    return this.#take(key, buffer.text === "" && place < 0);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#hangUp();
  }

  #hangUp(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }

  /** With those that have left it since the last look, as the journal knows them. */
  async #table() {
    this.#connection ??= await this.#app.call.host.daemon.ensure();
    const client = this.#connection;
    const rows = await allProcesses(client, "process.list");
    const there = new Set(rows.map(({ pid }) => String(pid)));
    const gone = this.#agents.filter((agent) => !hasEnded(agent) && !there.has(agent.agentId));
    if (gone.length === 0) return rows;
    const ids = new Set(gone.map(({ agentId }) => agentId));
    const { processes } = await client.request("process.ended", { tree: this.#app.pid });
    return [...rows, ...processes.filter(({ pid }) => ids.has(String(pid)))];
  }

  /** Without those whose rows are gone: a session may have had thousands. */
  #shown(): readonly PanelAgent[] {
    const ids = new Set(this.#rows().map(({ agentId }) => agentId));
    return this.#agents.filter((agent) => !hasEnded(agent) || ids.has(agent.agentId));
  }

  #rows(): readonly PanelRow[] {
    return panelRows(this.#agents, this.#marks, Date.now());
  }

  #take(key: PanelKey, isIdle: boolean): boolean {
    const rows = this.#rows();
    const taken = onPanelKey(followed(this.#state, rows, this.#chosen), key, { rows, isIdle });
    if (taken === undefined) return false;
    this.#state = taken.state;
    this.#chosen = chosenOf(taken.state, rows);
    const { action } = taken;
    if (action?.kind === "view") this.#view(action.agentId);
    if (action?.kind === "background") this.#ask("process.background", { pid: Number(action.agentId) });
    if (action?.kind === "stop") this.#ask("kill", { pid: Number(action.agentId), signal: SIGNALS.SIGTERM });
    if (action?.kind === "clear") this.#marks = dismissed(this.#marks, action.agentId);
    if (action?.kind === "processes") return false;
    this.#app.changed();
    return true;
  }

  #view(agentId: string): void {
    const agent = this.#agents.find((each) => each.agentId === agentId);
    if (agent === undefined) return;
    this.#marks = viewed(this.#marks, agentId);
    const { panel } = this.#app.words;
    const isOver = (): boolean => {
      const now = this.#agents.find((each) => each.agentId === agentId);
      return now === undefined || hasEnded(now);
    };
    this.#viewing = agentId;
    this.#app.actions.views.look(Number(agentId), agent.prompt, {
      hint: () => [isOver() ? panel.clear : panel.stop, ...this.#work(agentId)].join(" · "),
      key: (name) => (name === "x" || name === "ctrl+b") && this.#take(name === "x" ? name : "ctrl_b", true),
      closed: () => this.#left(agentId),
    });
  }

  #work(agentId: string): readonly string[] {
    const row = this.#rows().find((each) => each.agentId === agentId);
    return row === undefined ? [] : [workText(row, this.#app.words)];
  }

  #left(agentId: string): void {
    if (this.#viewing === agentId) this.#viewing = undefined;
    const { viewingAgentTaskId: _, ...state } = this.#state;
    this.#state = state;
    const agent = this.#agents.find((each) => each.agentId === agentId);
    const isCleared = this.#marks.get(agentId)?.evictAfter === 0;
    if (agent !== undefined && !isCleared) this.#marks = left(this.#marks, agent, Date.now());
    this.#later();
  }

  /** What comes of it stands in the line of the call, and in its row. */
  #ask<M extends "process.background" | "kill">(method: M, params: Params<M>): void {
    const app = this.#app;
    app.do(async () => {
      await app.client.request(method, params);
    });
  }

  /** One that ends while nobody looks at it goes a while after its end, also if it was looked at before. */
  #leaveEnded(agents: readonly PanelAgent[]): void {
    for (const agent of agents) {
      const { retain = false, evictAfter } = this.#marks.get(agent.agentId) ?? {};
      if (!hasEnded(agent) || retain || evictAfter !== undefined) continue;
      this.#marks = left(this.#marks, agent, Math.min(Date.now(), agent.endTime ?? Number.POSITIVE_INFINITY));
    }
  }

  /** One timer: the next look while one works, else the end of a row. */
  #later(): void {
    clearTimeout(this.#timer);
    const rows = this.#rows();
    const isWorking = !this.#isOver && this.#agents.some((agent) => !hasEnded(agent));
    const due = nextEviction(rows);
    if (!isWorking) this.#hangUp();
    if (this.#isOver) return;
    if (isWorking) this.#timer = setTimeout(() => void this.look(), LOOK_MS);
    else if (due !== undefined)
      this.#timer = setTimeout(
        () => {
          this.#app.changed();
          this.#later();
        },
        Math.max(0, due - Date.now()),
      );
    this.#timer?.unref();
  }
}
