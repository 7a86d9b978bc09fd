/** What a person does to a session: over connections of their own, for the stream has taken the first. */
import { randomBytes } from "node:crypto";
import type { MethodName, Params, Result } from "../abi/methods.ts";
import { SIGNALS } from "../abi/process.ts";
import type { DaemonAccess } from "./daemon-client.ts";

export class ChatClient {
  /** Tells this command from the others that talk to the same session. */
  readonly name = randomBytes(3).toString("hex");
  readonly #daemon: DaemonAccess;
  /** One after the other: what was typed first arrives first. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(daemon: DaemonAccess) {
    this.#daemon = daemon;
  }

  say(pid: number, text: string): Promise<Result<"session.say">> {
    return this.request("session.say", { pid, text, client: this.name });
  }

  /** Ends the run, and not the session. */
  async interrupt(pid: number): Promise<void> {
    await this.request("kill", { pid, signal: SIGNALS.SIGINT });
  }

  async withdraw(pid: number, seq: number): Promise<void> {
    await this.request("session.withdraw", { pid, seq });
  }

  async entitle(pid: number, title: string): Promise<void> {
    await this.request("session.describe", { pid, title });
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
