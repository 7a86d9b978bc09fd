/** A server of raw bytes, for what no faithful server would send. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { LlmErrorKind, Reply } from "../../abi/llm.ts";
import { contractRequest } from "../contract.ts";
import type { Driver } from "../driver.ts";
import { fold } from "../fold.ts";

type Bytes = string | Uint8Array;
export interface Answer {
  readonly head?: string;
  /** Absent: a body without length, up to the end of the connection. */
  readonly body: Bytes | readonly Bytes[];
}
export type Make = (url: string) => Driver;

export const KEY = "key-0123456789";
export const OK = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";

/** A server that gives this to each POST, and knows nothing of its models. */
export async function serving({ head = OK, body }: Answer, host = "127.0.0.1") {
  const sockets = new Set<Socket>();
  const asked: string[] = [];
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    socket.once("data", (data: Buffer) => {
      const line = data.toString("latin1").split("\r\n")[0] ?? "";
      asked.push(line);
      if (line.includes("/api/show")) return socket.end("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{}");
      socket.write(`${head}\r\n`);
      for (const part of typeof body === "string" || body instanceof Uint8Array ? [body] : body)
        socket.write(part);
      return socket.end();
    });
  }).listen(0, host);
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`, asked };
}

export async function askedOf(make: Make, url: string): Promise<Reply> {
  const driver = make(url);
  onTestFinished(() => driver.close?.());
  return fold(driver.stream(contractRequest(), new AbortController().signal));
}

/** The reply in few words: texts, thinking, calls, and why it ended. */
export function shortOf({ blocks, stopReason }: Reply): unknown[] {
  return [
    ...blocks.map((block) => {
      if (block.type === "text") return block.text;
      if (block.type === "thinking") return `(${block.thinking})`;
      if (block.type === "tool_use") return [block.name, block.input];
      return block.type;
    }),
    stopReason,
  ];
}

export const sse = (...events: readonly object[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
/** What most of the tests get. */
export const HELLO = ["Hello.", "end_turn"];
export const page =
  "<!DOCTYPE html>\n<html><head><title>502 Bad\n Gateway</title></head><body>no</body></html>";
export type Bad = readonly [what: string, answer: Answer, kind: LlmErrorKind, words: string, more?: object];

/** A row of a table, for `it.each`. */
export function failing([what, answer, kind, words, more = {}]: Bad) {
  return [what, { answer, kind, words, more }] as const;
}
