/**
 * Makes one request and returns the response; redirects are not followed. The name is resolved here, each of its
 * addresses is checked, and the connection goes to a checked address: a name that resolves differently a moment later
 * has no effect.
 */
import type { IncomingMessage, RequestOptions } from "node:http";
import { isIP } from "node:net";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { driverError, errnoOf, unreadError } from "../driver-error.ts";
import type { PageUrl } from "./page-url.ts";
import type { WebPorts } from "./ports.ts";

const MAX_BODY_BYTES = 10 * 1024 * 1024;
const MAX_ADDRESSES = 4;

export interface Exchange {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface ExchangeCall {
  readonly url: PageUrl;
  readonly headers: Readonly<Record<string, string>>;
  readonly ports: WebPorts;
  /** True for a host that the user's settings name: its address may be private. */
  readonly isPrivate: boolean;
  readonly signal: AbortSignal;
}

/** PERMISSION: the host is in this network. INVALID: over 10 MB. DRIVER: no answer. */
export async function exchange(call: ExchangeCall): Promise<Exchange> {
  const response = await connectToAny(call, await checkedAddresses(call));
  const headers = Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
  );
  return { status: response.statusCode ?? 0, headers, body: await bodyOf(response) };
}

/** All addresses are refused if one of them is not public. */
async function checkedAddresses({ url, ports, isPrivate }: ExchangeCall): Promise<readonly string[]> {
  const addresses = isIP(url.host) === 0 ? await resolved(ports, url.host) : [url.host];
  const wrong = isPrivate ? undefined : addresses.find((address) => !ports.isPublic(address));
  if (wrong !== undefined)
    throw unreadError("Write", "PERMISSION", `web: ${url.host} leads to ${wrong}, which is not public`);
  if (addresses.length === 0) throw noAnswer(url, "it has no address");
  return addresses.slice(0, MAX_ADDRESSES);
}

/** Tries the addresses one after another: not every network can reach every kind of address. */
async function connectToAny(call: ExchangeCall, addresses: readonly string[]): Promise<IncomingMessage> {
  let failure: unknown;
  for (const address of addresses) {
    try {
      return await connect(call, address);
    } catch (error) {
      if (call.signal.aborted) throw error;
      failure = error;
    }
  }
  throw failure;
}

async function resolved(ports: WebPorts, host: string): Promise<readonly string[]> {
  try {
    return await ports.resolve(host);
  } catch (error) {
    throw unreadError("Write", "DRIVER", `web: ${host}: no such host`, error);
  }
}

async function connect({ url, headers, signal }: ExchangeCall, address: string): Promise<IncomingMessage> {
  // imported with the first page: as modules they load a second HTTP client, which would slow down the daemon's start
  const { request } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  const { pathname, search } = new URL(url.href);
  const options: RequestOptions = {
    // the name is used for Host and TLS; the connection goes to the address
    host: url.host,
    port: url.port,
    path: pathname + search,
    method: "GET",
    headers: { ...headers, "accept-encoding": "gzip, deflate, br" },
    agent: false,
    signal,
    lookup: (_name, { all }, done) => {
      const family = isIP(address);
      if (all === true) done(null, [{ address, family }]);
      else done(null, address, family);
    },
  };
  return new Promise((resolve, reject) => {
    const sent = request(options, resolve);
    sent.once("error", (error) => reject(signal.aborted ? error : noAnswer(url, error.message, error)));
    sent.end();
  });
}

/** Counts the bytes as they are decompressed: the size stated by the server may be wrong. */
async function bodyOf(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of unpacked(response)) {
      bytes += (chunk as Buffer).byteLength;
      if (bytes > MAX_BODY_BYTES)
        throw driverError("Write", "INVALID", "web: the page has over 10 MB; find a smaller one");
      chunks.push(chunk as Buffer);
    }
  } finally {
    response.destroy();
  }
  return Buffer.concat(chunks);
}

function unpacked(response: IncomingMessage): Readable {
  const encoding = response.headers["content-encoding"]?.toLowerCase() ?? "";
  const unpack = {
    gzip: createGunzip,
    "x-gzip": createGunzip,
    deflate: createInflate,
    br: createBrotliDecompress,
  };
  if (!Object.hasOwn(unpack, encoding)) return response;
  const stream = unpack[encoding as keyof typeof unpack]();
  response.once("error", (error) => stream.destroy(error));
  return response.pipe(stream);
}

function noAnswer({ host }: PageUrl, why: string, cause?: unknown): Error {
  const message = `web: no answer from ${host}: ${why}`;
  // a message without an errno of the host may quote the server, for example names in its certificate
  const isOurs = cause === undefined || errnoOf(cause) !== undefined;
  return (isOurs ? unreadError : driverError)("Write", "DRIVER", message, cause);
}
