/** A daemon with the answers a test sets, and a clock that counts turns of the event loop. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import * as net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { settle } from "../../kernel/testing/virtual-clock.ts";
import type { DaemonOptions } from "./daemon.ts";
import type { Launched, LaunchSpec } from "./launch.ts";
import type { Timer } from "./probe.ts";

/** Returns the reply to one received line; undefined: no answer. */
export type Reply = (line: string) => string | undefined;

const answerPing: Reply = () => '{"ok":true,"payload":{"version":"0.1.0"}}\n';

export class FakeDaemon {
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();
  readonly lines: string[] = [];
  connections = 0;
  reply: Reply;

  private constructor(reply: Reply) {
    this.reply = reply;
    this.#server = net.createServer((socket) => {
      this.connections++;
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      socket.on("error", () => {});
      socket.on("data", (chunk) => {
        for (const line of chunk.toString().split("\n").filter(Boolean)) {
          this.lines.push(line);
          const text = this.reply(line);
          if (text !== undefined) socket.write(text);
        }
      });
    });
  }

  static async listen(path: string, reply: Reply = answerPing): Promise<FakeDaemon> {
    const daemon = new FakeDaemon(reply);
    await new Promise<void>((resolve) => daemon.#server.listen(path, resolve));
    return daemon;
  }

  get open(): number {
    return this.#sockets.size;
  }

  say(text: string): void {
    for (const socket of this.#sockets) socket.write(text);
  }

  hangUp(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): Promise<void> {
    this.hangUp();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

/** Every ten milliseconds are one turn of the event loop, so local I/O is as fast as in production. */
class TurnClock implements Timer {
  #mono = 0;
  mono(): number {
    return this.#mono;
  }
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    for (let turn = 0; turn < Math.max(5, ms / 10); turn++) {
      if (signal?.aborted) throw signal.reason;
      await settle(1);
    }
    this.#mono += ms;
  }
}

export class ClientFixture {
  readonly dir = mkdtempSync(join(tmpdir(), "crux-client-"));
  readonly runtimeDir = join(this.dir, "run");
  readonly socketPath = join(this.runtimeDir, "crux.sock");
  readonly stateDir = join(this.dir, "state", "crux");
  readonly clock = new TurnClock();
  readonly launches: LaunchSpec[] = [];
  readonly #daemons: FakeDaemon[] = [];
  /** The effect of a launch; default: nothing. */
  onLaunch: () => Launched = () => ({ ended: false, error: undefined });
  env: Record<string, string> = { CRUX_SOCKET: this.socketPath, XDG_STATE_HOME: join(this.dir, "state") };

  constructor() {
    mkdirSync(this.runtimeDir, { mode: 0o700 });
    mkdirSync(join(this.stateDir, "journal"), { recursive: true });
  }

  options(more: Partial<DaemonOptions> = {}): DaemonOptions {
    const launch = (spec: LaunchSpec) => {
      this.launches.push(spec);
      return this.onLaunch();
    };
    return {
      version: "0.1.0",
      env: this.env,
      home: this.dir,
      command: ["crux"],
      clock: this.clock,
      launch,
      ...more,
    };
  }

  async listen(reply?: Reply): Promise<FakeDaemon> {
    const daemon = await FakeDaemon.listen(this.socketPath, reply);
    this.#daemons.push(daemon);
    return daemon;
  }

  /** Writes the lock's owner and crux.pid as a daemon does. */
  own(pid: number, inPidFile = pid, startTime: number | null = null): void {
    writeFileSync(join(this.stateDir, "journal", "owner.json"), JSON.stringify({ pid, startTime }));
    writeFileSync(join(this.runtimeDir, "crux.pid"), `${inPidFile}\n`);
  }

  async close(): Promise<void> {
    for (const daemon of this.#daemons) await daemon.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}
