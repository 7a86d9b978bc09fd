/**
 * The work that a reply costs which comes in many small pieces, from the socket to the blocks that the loop reads. No time
 * is measured: what is counted is what the calls that copy, parse, look through or step through things have before them.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/lib/time/system-clock.ts";
import { contractRequest } from "../../src/llm/contract.ts";
import { modelDevices } from "../../src/llm/devices/devices.ts";
import { testAct, testCaller } from "../../src/llm/testing/callers.ts";
import { AWS_KEYS } from "../model-server/bedrock/request.ts";
import { dialects } from "../model-server/dialect.ts";
import { Mint } from "../model-server/identity.ts";
import { composeMessage } from "../model-server/message.ts";
import { blocks, text, thinking, toolUse } from "../model-server/reply.ts";
import { type DialectName, readRequest } from "../model-server/request.ts";

const KEY = "test-key-0123456789";
type Env = Record<string, string>;
const openai = (url: string): Env => ({
  OPENAI_API_KEY: KEY,
  OPENAI_BASE_URL: `${url}/v1`,
  OPENAI_MODEL: "m",
});
/** One driver for each codec. */
const DRIVERS: readonly (readonly [dialect: DialectName, driver: string, env: (url: string) => Env])[] = [
  ["anthropic", "anthropic", (url) => ({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url })],
  ["openai", "openai", openai],
  ["responses", "openai", (url) => ({ ...openai(url), CRUX_OPENAI_API: "responses" })],
  ["gemini", "gemini", (url) => ({ GEMINI_API_KEY: KEY, GEMINI_BASE_URL: `${url}/v1beta` })],
  [
    "bedrock",
    "bedrock",
    (url) => ({ ...AWS_KEYS, AWS_REGION: "eu-west-1", ANTHROPIC_BEDROCK_BASE_URL: url }),
  ],
  ["ollama", "ollama", (url) => ({ OLLAMA_HOST: url, OLLAMA_MODEL: "m" })],
];

/** Thoughts, words and arguments, one character a piece. */
function bodyOf(dialect: DialectName, pieces: number): Buffer {
  const reply = blocks(
    thinking("x".repeat(pieces / 2)),
    text("x".repeat(pieces / 4)),
    toolUse({ name: "view", input: { path: "x".repeat(pieces / 4) } }),
  ).fragment(1);
  const path = "/models/m:streamGenerateContent";
  const http = { method: "POST", path, query: "", headers: {}, rawBody: "" };
  const body = { model: "m", stream: true, stream_options: { include_usage: true } };
  const request = readRequest(http, dialect, body, 0);
  const { stream, isBinary } = dialects[dialect];
  const frames = [...stream(composeMessage(reply, request, new Mint("x")), request)];
  return Buffer.from(frames.map((frame) => frame.text).join(""), isBinary === true ? "latin1" : "utf8");
}

/** A server that answers each request for a reply with this body. */
async function serverOf(dialect: DialectName, body: Buffer): Promise<string> {
  const { streamType = "text/event-stream" } = dialects[dialect];
  const server = createServer((request, response) => {
    request.resume();
    const isSide = request.url?.endsWith("/api/show") === true;
    response.writeHead(200, { "content-type": isSide ? "application/json" : streamType });
    response.end(isSide ? '{"capabilities":["completion","tools","thinking"]}' : body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

// biome-ignore lint/suspicious/noExplicitAny: methods of any kind
type Method = (this: any, ...args: any[]) => unknown;
interface Sized {
  readonly length?: number;
}
const ofMade = (made: unknown): number => (made as Sized | undefined)?.length ?? 0;
const ofGiven = (_made: unknown, [given]: readonly unknown[]): number =>
  (given as Sized | undefined)?.length ?? 0;
const ofItself = (_made: unknown, _given: unknown, self: unknown): number => (self as Sized).length ?? 0;
const step = (): number => 1;
const THROUGH = [
  ...["concat", "every", "filter", "find", "findIndex", "findLast", "findLastIndex", "flatMap", "forEach"],
  ...["includes", "indexOf", "map", "reduce", "slice", "some", "splice", "toSorted", "toSpliced"],
].map((name) => [Array.prototype, name, ofItself] as const);
const stepsOf = (iterator: object) => [Object.getPrototypeOf(iterator) as object, "next", step] as const;
/** The calls whose work grows with what they have before them. */
const MEASURED = [
  ...THROUGH,
  [Array.prototype, "join", ofMade],
  ...[stepsOf([].values()), stepsOf(new Map().values()), stepsOf(new Set().values())],
  [Buffer, "concat", ofMade],
  [Uint8Array.prototype, "set", ofGiven],
  [Uint8Array.prototype, "slice", ofMade],
  [TextDecoder.prototype, "decode", ofMade],
  [TextEncoder.prototype, "encode", ofMade],
  [JSON, "parse", ofGiven],
  [JSON, "stringify", ofMade],
] as const;

async function workOf(act: () => Promise<void>): Promise<number> {
  let work = 0;
  const before = MEASURED.map(([owner, name, size]) => {
    const own = (owner as Record<string, Method>)[name] as Method;
    const measured: Method = function (...args) {
      const made = Reflect.apply(own, this, args);
      work += size(made, args, this);
      return made;
    };
    Object.defineProperty(owner, name, { value: measured, configurable: true, writable: true });
    return () => Object.defineProperty(owner, name, { value: own, configurable: true, writable: true });
  });
  try {
    await act();
  } finally {
    for (let each = 0; each < before.length; each++) before[each]?.();
  }
  return work;
}

it.each(DRIVERS)("%s by %s: ten times the pieces are ten times the work", async (dialect, name, env) => {
  const costOf = async (pieces: number): Promise<number> => {
    const url = await serverOf(dialect, bodyOf(dialect, pieces));
    const device = modelDevices({ exec: {} as never, tmpDir: "", clock: systemClock }).find(
      (each) => each.name === name,
    )!;
    const file = await device.open("", "RW" as never, testCaller({ env: env(url) }));
    const { signal } = new AbortController();
    const request = new TextEncoder().encode(JSON.stringify(contractRequest({ stream: false })));
    const parts: Uint8Array[] = [];
    const work = await workOf(async () => {
      await file.write(request, testAct());
      for (;;) {
        const part = await file.read(65_536, signal);
        if (part.byteLength === 0) return;
        parts.push(part);
      }
    });
    await file.close();
    await device.close?.();
    // the words and the arguments, each whole
    expect(
      Buffer.concat(parts)
        .toString()
        .split("x".repeat(pieces / 4)).length,
    ).toBeGreaterThan(2);
    return work;
  };
  const [few, many] = [await costOf(5_000), await costOf(50_000)];
  expect(few).toBeGreaterThan(5_000);
  expect(many / few).toBeLessThan(12);
});
