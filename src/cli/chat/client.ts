/** What the user does to a session: over separate connections, because the stream occupies the first. */
import { randomBytes } from "node:crypto";
import type { Picture } from "../../abi/media/pictures.ts";
import type { MethodName, Params, Result } from "../../abi/methods/methods.ts";
import { type PermissionMode, SIGNALS } from "../../abi/process.ts";
import type { DaemonAccess } from "../daemon/client.ts";
import { isClosed, modesAfter } from "./mode-cycle.ts";

export class ChatClient {
  /** Distinguishes this command from other clients of the same session. */
  readonly name = randomBytes(3).toString("hex");
  /** Of each run that its messages begin; undefined: as many as the session has. */
  maxSteps: number | undefined;
  readonly #daemon: DaemonAccess;
  /** Requests are sent one after the other, in the order of typing. */
  #last: Promise<unknown> = Promise.resolve();
  /** What only reads: it waits for nothing that was asked before, and nothing that is typed waits for it. */
  readonly aside: Pick<ChatClient, "request"> = { request: (method, payload) => this.#ask(method, payload) };

  constructor(daemon: DaemonAccess) {
    this.#daemon = daemon;
  }

  say(pid: number, text: string, media?: Picture[]): Promise<Result<"session.say">> {
    const shown = media === undefined ? {} : { media };
    const most = this.maxSteps === undefined ? {} : { max_steps: this.maxSteps };
    return this.request("session.say", { pid, text, ...shown, ...most, client: this.name });
  }

  /** Interrupts the run, but keeps the session. */
  async interrupt(pid: number): Promise<void> {
    await this.request("kill", { pid, signal: SIGNALS.SIGINT });
  }

  async withdraw(pid: number, seq: number): Promise<void> {
    await this.request("session.withdraw", { pid, seq });
  }

  /** Reads the mode; sets it if one is given. */
  mode(pid: number, mode?: PermissionMode): Promise<Result<"process.mode">> {
    return this.request("process.mode", { pid, ...(mode === undefined ? {} : { mode }) });
  }

  /** Enters the next mode that can be entered. */
  async nextMode(pid: number): Promise<PermissionMode> {
    const now = await this.mode(pid);
    for (const next of modesAfter(now.mode, now.ceiling)) {
      try {
        return (await this.mode(pid, next)).mode;
      } catch (error) {
        if (!isClosed(error)) throw error;
      }
    }
    return now.mode;
  }

  async entitle(pid: number, title: string): Promise<void> {
    await this.request("session.describe", { pid, title });
  }

  /** What is typed meanwhile does not wait for it. */
  compact(pid: number, text: string): Promise<Result<"context.compact">> {
    return this.#ask("context.compact", { pid, ...(text === "" ? {} : { text }) });
  }

  request<M extends MethodName>(method: M, payload: Params<M>): Promise<Result<M>> {
    const asked = this.#last.then(() => this.#ask(method, payload));
    this.#last = asked.catch(() => {});
    return asked;
  }

  async #ask<M extends MethodName>(method: M, payload: Params<M>): Promise<Result<M>> {
    const client = await this.#daemon.ensure();
    try {
      return await client.request(method, payload);
    } finally {
      client.close();
    }
  }
}
