/**
 * The live table of `crux top`: keys, snapshots of the daemon and terminal sizes arrive in one queue; each change is
 * drawn at once.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Call } from "../../command.ts";
import type { DaemonClient } from "../../daemon/client.ts";
import type { Host } from "../../host/host.ts";
import { carryOut, look, untilNextLook } from "../../run/top-daemon.ts";
import type { Key } from "../../screen/keys.ts";
import { pageOf, topFrame } from "../../screen/top/frame.ts";
import { arrange, type Snapshot, type TopRow } from "../../screen/top/rows.ts";
import { TokenRates } from "../../screen/top/token-rates.ts";
import {
  keepInSight,
  onKey,
  type PidList,
  type TopAction,
  type TopView,
  topView,
} from "../../screen/top/view.ts";
import { FullScreen } from "../../terminal/full-screen.ts";

/** The most keys not yet handled; on a slow terminal further keys are dropped. */
const MAX_WAITING = 1_000;

interface Options extends Pick<TopView, "sort" | "showsAll"> {
  readonly delayMs: number;
}

type Incoming =
  | { readonly kind: "key"; readonly key: Key }
  | { readonly kind: "look"; readonly snapshot: Snapshot }
  | { readonly kind: "said"; readonly message: string }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "resized" | "leave" };

/**
 * Resolves when the user leaves, with the process that is to be attached to, if any; rejects when the daemon is gone. The
 * terminal is restored by then.
 */
export async function live(call: Call, client: DaemonClient, options: Options): Promise<number | undefined> {
  const { host } = call;
  const inbox = new Inbox();
  using screen = new FullScreen(host, {
    onKeys: (keys) => {
      for (const key of keys) inbox.push({ kind: "key", key });
    },
    onResize: () => inbox.push({ kind: "resized" }),
    onGone: () => inbox.push({ kind: "leave" }),
  });
  const unlisten = host.interrupts.listen(() => inbox.push({ kind: "leave" }));
  const looking = new Looking(client, options.delayMs, inbox);
  try {
    return await new Live({ host, client, screen, inbox, looking }, topView(options)).run();
  } finally {
    unlisten();
    client.close();
    await looking.stop();
  }
}

interface Around {
  readonly host: Pick<Host, "env">;
  readonly client: DaemonClient;
  readonly screen: FullScreen;
  readonly inbox: Inbox;
  readonly looking: Looking;
}

class Live {
  readonly #around: Around;
  #view: TopView;
  #snapshot: Snapshot | undefined;
  #rows: readonly TopRow[] = [];
  #pids: readonly number[] = [];
  #attached: number | undefined;
  /** What is sent goes one after the other; never rejects. */
  #sending: Promise<void> = Promise.resolve();

  constructor(around: Around, view: TopView) {
    this.#around = around;
    this.#view = view;
  }

  async run(): Promise<number | undefined> {
    for (;;) {
      const batch = await this.#around.inbox.take();
      for (const incoming of batch) if (await this.#heed(incoming)) return this.#attached;
      await this.#draw();
    }
  }

  /** True: the view was left. */
  async #heed(incoming: Incoming): Promise<boolean> {
    switch (incoming.kind) {
      case "failed":
        throw incoming.error;
      case "leave":
        return true;
      case "resized":
        break;
      case "said":
        this.#view = { ...this.#view, message: incoming.message };
        break;
      case "look":
        this.#snapshot = incoming.snapshot;
        this.#arrange();
        break;
      case "key":
        return this.#press(incoming.key);
    }
    return false;
  }

  get #list(): PidList {
    return { pids: this.#pids, page: pageOf(this.#around.screen.size) };
  }

  async #press(key: Key): Promise<boolean> {
    const before = this.#view;
    const { view, action } = onKey(before, key, this.#list);
    this.#view = view;
    const { sort, isTree, showsAll, filter } = view;
    if (
      sort !== before.sort ||
      isTree !== before.isTree ||
      showsAll !== before.showsAll ||
      filter !== before.filter
    )
      this.#arrange();
    return this.#act(action);
  }

  async #act(action: TopAction): Promise<boolean> {
    switch (action.kind) {
      case "none":
        return false;
      case "quit":
        return true;
      case "redraw":
        this.#around.screen.forget();
        return false;
      case "suspend":
        await this.#around.screen.suspend();
        return false;
      case "signal":
      case "budget":
        this.#sending = this.#sending.then(() => this.#send(action));
        return false;
      case "attach":
        this.#attached = action.pid;
        return true;
    }
  }

  async #send(action: Parameters<typeof carryOut>[1]): Promise<void> {
    const { client, host, inbox, looking } = this.#around;
    inbox.push({ kind: "said", message: await carryOut(client, action, host.env) });
    looking.now();
  }

  #arrange(): void {
    if (this.#snapshot === undefined) return;
    this.#rows = arrange(this.#snapshot, this.#view);
    this.#pids = this.#rows.map(({ row }) => row.pid);
  }

  async #draw(): Promise<void> {
    if (this.#snapshot === undefined) return;
    const { size } = this.#around.screen;
    this.#view = keepInSight(this.#view, this.#list);
    await this.#around.screen.draw(
      topFrame({ view: this.#view, snapshot: this.#snapshot, rows: this.#rows }, size),
    );
  }
}

/** Takes snapshots of the daemon periodically. */
class Looking {
  readonly #client: DaemonClient;
  readonly #delayMs: number;
  readonly #inbox: Inbox;
  readonly #done: Promise<void>;
  #isStopped = false;
  #isWanted = false;
  #waiting = new AbortController();

  constructor(client: DaemonClient, delayMs: number, inbox: Inbox) {
    this.#client = client;
    this.#delayMs = delayMs;
    this.#inbox = inbox;
    this.#done = this.#run();
  }

  /** Takes the next snapshot without waiting. */
  now(): void {
    this.#isWanted = true;
    this.#waiting.abort();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.now();
    await this.#done;
  }

  async #run(): Promise<void> {
    const rates = new TokenRates();
    while (!this.#isStopped) {
      const begun = performance.now();
      try {
        this.#inbox.push({ kind: "look", snapshot: await look(this.#client, rates) });
      } catch (error) {
        this.#inbox.push({ kind: "failed", error });
        return;
      }
      await this.#wait(untilNextLook(this.#delayMs, performance.now() - begun));
    }
  }

  async #wait(ms: number): Promise<void> {
    this.#waiting = new AbortController();
    if (!this.#isWanted) await pause(ms, undefined, { signal: this.#waiting.signal }).catch(() => {});
    this.#isWanted = false;
  }
}

class Inbox {
  #waiting: Incoming[] = [];
  #wake: () => void = () => {};

  push(incoming: Incoming): void {
    if (incoming.kind === "key" && this.#waiting.length >= MAX_WAITING) return;
    this.#waiting.push(incoming);
    this.#wake();
  }

  /** Everything that has arrived since, at least one item. */
  async take(): Promise<readonly Incoming[]> {
    while (this.#waiting.length === 0)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    const batch = this.#waiting;
    this.#waiting = [];
    return batch;
  }
}
