/**
 * Reads the request of a proxy client: HTTP CONNECT (RFC 9110 9.3.6) or SOCKS5 CONNECT without a login (RFC 1928).
 */
import type { Duplex } from "node:stream";
import type { ByteReader } from "./byte-reader.ts";

export interface ProxyRequest {
  readonly host: string;
  readonly port: number;
  /** Informs the client that it is connected. */
  accept(): void;
  /**
   * Informs the client that it is refused, with the reason if the protocol has room for text; ends the connection.
   */
  refuse(why: string): void;
}

const SOCKS = 5;
const maxHeadBytes = 16 * 1024;

/** undefined: the request was not valid and was refused; the connection has ended. */
export async function readRequest(client: Duplex, reader: ByteReader): Promise<ProxyRequest | undefined> {
  const [first] = await reader.peek(1);
  return first === SOCKS ? readSocks(client, reader) : readConnect(client, reader);
}

async function readConnect(client: Duplex, reader: ByteReader): Promise<ProxyRequest | undefined> {
  const head = await reader.until("\r\n\r\n", maxHeadBytes);
  const refuse = (why: string, status = "403 Forbidden") =>
    void client.end(
      `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nsandbox: ${why}\n`,
    );
  const match = /^CONNECT (\[[^\]\s]*\]|[^\s:[\]]+):(\d{1,5}) HTTP\/1\.[01]\r\n/.exec(head);
  if (match === null) {
    refuse("only https and SOCKS pass the proxy of the sandbox, not plain http", "405 Method Not Allowed");
    return undefined;
  }
  const [, host = "", port = ""] = match;
  return {
    host,
    port: Number(port),
    accept: () => void client.write("HTTP/1.1 200 Connection established\r\n\r\n"),
    refuse,
  };
}

const NO_LOGIN = 0;
const NO_METHOD = 0xff;
const CONNECT = 1;
const NAME = 3;
const REPLY = { done: 0, refused: 2, notCommand: 7, notAddress: 8 } as const;

async function readSocks(client: Duplex, reader: ByteReader): Promise<ProxyRequest | undefined> {
  const [, count = 0] = await reader.take(2);
  const methods = await reader.take(count);
  if (!methods.includes(NO_LOGIN)) {
    client.end(Buffer.from([SOCKS, NO_METHOD]));
    return undefined;
  }
  client.write(Buffer.from([SOCKS, NO_LOGIN]));
  const [, command, , kind] = await reader.take(4);
  const reply = (code: number) => Buffer.from([SOCKS, code, 0, 1, 0, 0, 0, 0, 0, 0]);
  if (command !== CONNECT || kind !== NAME) {
    client.end(reply(command === CONNECT ? REPLY.notAddress : REPLY.notCommand));
    return undefined;
  }
  const [length = 0] = await reader.take(1);
  const host = (await reader.take(length)).toString("latin1");
  const port = (await reader.take(2)).readUInt16BE(0);
  return {
    host,
    port,
    accept: () => void client.write(reply(REPLY.done)),
    refuse: () => void client.end(reply(REPLY.refused)),
  };
}
