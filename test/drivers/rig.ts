/** The driver contract's other end: the model server on loopback. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { onTestFinished } from "vitest";
import { STOP_REASONS } from "../../src/abi/llm.ts";
import type { Rig, RigBlock, Rigged, RigReply } from "../../src/llm/contract.ts";
import type { Driver } from "../../src/llm/driver.ts";
import { error, malformedToolJson, Reply, text, thinking } from "../model-server/reply.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "../model-server/server.ts";

/** What a reply of text alone may end with. */
export const TEXT_STOPS = STOP_REASONS.filter((reason) => reason !== "tool_use");

/** What both dialects say by status. */
export const API_ERRORS: Rig["errors"] = [
  { kind: "invalid", status: 400 },
  { kind: "auth", status: 401 },
  { kind: "quota", status: 402 },
  { kind: "forbidden", status: 403 },
  { kind: "model_not_found", status: 404 },
  { kind: "prompt_too_long", status: 413 },
  { kind: "rate_limit", status: 429, retryAfterS: 7 },
  { kind: "server", status: 500 },
  { kind: "overloaded", status: 529 },
];

/** A model server for one test. */
export async function serve(options: ModelServerOptions): Promise<ModelServer> {
  const server = await startModelServer(options);
  onTestFinished(() => server.close());
  return server;
}

/** How many connections are made to it from now on, while one test runs. */
export function connectionsTo(server: ModelServer): { readonly count: number } {
  const made = { count: 0 };
  const seen = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket };
    if (socket.localPort === server.port) made.count++;
  };
  subscribe("net.server.socket", seen);
  onTestFinished(() => void unsubscribe("net.server.socket", seen));
  return made;
}

export interface ServerRig extends Omit<Rig, "serve"> {
  connect(server: ModelServer): Driver | Promise<Driver>;
  /** When the server is gone. */
  dispose?(): Promise<void>;
  /** Something besides sockets that must be gone when an attempt is. */
  quiet?(): Promise<void>;
}

export function serverRig({ connect, quiet, dispose, ...rest }: ServerRig): Rig {
  return {
    ...rest,
    serve: async (replies) => {
      const server = await startModelServer({
        script: replies.length === 1 ? toReply(replies[0]!) : replies.map(toReply),
      });
      const driver = await connect(server);
      const rigged: Rigged = {
        driver,
        quiet: async () => {
          await server.waitFor(() => server.inFlight === 0 && server.openSockets === 0);
          await quiet?.();
        },
        close: async () => {
          await driver.close();
          await server.close();
          await dispose?.();
        },
      };
      return rigged;
    },
  };
}

function toReply(reply: RigReply): Reply {
  if (reply.error !== undefined) {
    const { status, retryAfterS } = reply.error;
    return error(
      status,
      undefined,
      undefined,
      retryAfterS === undefined ? {} : { "retry-after": `${retryAfterS}` },
    );
  }
  let made = new Reply({}).and(...reply.blocks.map(toBlock));
  if (reply.stop !== undefined) made = made.stop(reply.stop);
  if (reply.usage !== undefined) made = made.usage(reply.usage);
  if (reply.split !== undefined) made = made.splitEvery(reply.split).fragment(reply.split);
  if (reply.ending?.do === "cut") made = made.cut({ afterBlocks: reply.ending.afterBlocks });
  if (reply.ending?.do === "stall") made = made.stall({ afterBlocks: reply.ending.afterBlocks });
  return made;
}

function toBlock(block: RigBlock): Reply {
  switch (block.type) {
    case "text":
      return text(block.text);
    case "thinking":
      return thinking(block.thinking);
    case "tool_use":
      return malformedToolJson(block.name, block.json);
  }
}
