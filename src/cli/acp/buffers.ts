/** The files of a session as the editor shows them: what the daemon asks for is read and written by the editor. */
import { messageOf } from "../../abi/errors.ts";
import type { MethodName, Params, Result } from "../../abi/methods/methods.ts";
import type { DaemonAccess, DaemonStream } from "../daemon/client.ts";
import { isRecord } from "./tool-call.ts";

/** What an editor does with files; a method that it does not offer is undefined. */
export interface EditorFiles {
  readonly read: ((sessionId: string, path: string) => Promise<string>) | undefined;
  readonly write: ((sessionId: string, path: string, text: string) => Promise<void>) | undefined;
}

interface Served {
  readonly uuid: string;
  readonly pid: number;
}

type Answer = Omit<Params<"session.answer_file">, "id">;

export class Buffers {
  readonly #files: EditorFiles;
  readonly #daemon: DaemonAccess;
  readonly #log: (words: string) => void;
  #stream: DaemonStream<unknown> | undefined;

  constructor(files: EditorFiles, daemon: DaemonAccess, log: (words: string) => void) {
    this.#files = files;
    this.#daemon = daemon;
    this.#log = log;
  }

  /** Once more for each connection to the session: the newest is asked. */
  async serve(session: Served): Promise<void> {
    const [read, write] = [this.#files.read !== undefined, this.#files.write !== undefined];
    if (!read && !write) return;
    this.close();
    const daemon = await this.#daemon.ensure();
    const stream = await daemon.stream("session.serve_files", { pid: session.pid, read, write });
    this.#stream = stream;
    void this.#follow(stream, session.uuid);
  }

  close(): void {
    this.#stream?.close();
    this.#stream = undefined;
  }

  async #follow({ lines }: DaemonStream<unknown>, uuid: string): Promise<void> {
    try {
      for await (const { payload } of lines) if (isRecord(payload)) void this.#answer(uuid, payload);
    } catch (error) {
      this.#log(`files of session ${uuid}: ${messageOf(error)}`);
    }
  }

  async #answer(uuid: string, { id, op, path, text }: Readonly<Record<string, unknown>>): Promise<void> {
    const wanted = op === "read" ? { path: String(path) } : { path: String(path), text: String(text) };
    const answer = await this.#act(uuid, wanted).catch((error: unknown) => ({
      error: messageOf(error).slice(0, 1_000),
    }));
    try {
      await this.#request("session.answer_file", { id: String(id), ...answer });
    } catch (error) {
      this.#log(`files of session ${uuid}: ${messageOf(error)}`);
    }
  }

  async #act(uuid: string, { path, text }: { path: string; text?: string }): Promise<Answer> {
    if (text === undefined) {
      const read: unknown = await this.#files.read?.(uuid, path);
      if (typeof read !== "string") throw new Error("the editor answered without the text of the file");
      return { text: read };
    }
    await this.#files.write?.(uuid, path, text);
    return {};
  }

  async #request<M extends MethodName>(method: M, payload: Params<M>): Promise<Result<M>> {
    const client = await this.#daemon.ensure();
    try {
      return await client.request(method, payload);
    } finally {
      client.close();
    }
  }
}
