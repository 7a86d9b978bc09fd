import { expect, test } from "vitest";
import type { ExecChild } from "../../kernel/ports/host.ts";
import { MCP_LIMITS } from "./limits.ts";
import { StdioTransport } from "./stdio-transport.ts";

const MESSAGE = '{"jsonrpc":"2.0","method":"notifications/x"}\n';
const child = { osPid: 7, write: async () => {} } as Partial<ExecChild> as ExecChild;

function opened() {
  const told = { garbage: 0, messages: 0, broken: [] as string[], closed: 0 };
  const transport = new StdioTransport(child, {
    garbage: () => told.garbage++,
    broken: (why) => told.broken.push(why),
  });
  transport.onmessage = () => told.messages++;
  transport.onclose = () => told.closed++;
  return { told, take: (text: string) => transport.take(Buffer.from(text)) };
}

test("take() passes messages on and tells of lines that are none", () => {
  const { told, take } = opened();
  take(`starting…\n${MESSAGE.slice(0, 9)}`);
  take(`${MESSAGE.slice(9)}[1]\n`);
  expect(told).toEqual({ garbage: 2, messages: 1, broken: [], closed: 0 });
});

test("take() ends with a program that writes nothing but lines that are no messages, and reads it no further", () => {
  const { told, take } = opened();
  const most = "y\n".repeat(MCP_LIMITS.garbageLines);
  take(most);
  take(MESSAGE);
  take(most);
  expect(told).toEqual({ garbage: 2 * MCP_LIMITS.garbageLines, messages: 1, broken: [], closed: 0 });
  for (let n = 0; n < 3; n++) take("y\n");
  take(MESSAGE);
  expect(told).toEqual({
    garbage: 2 * MCP_LIMITS.garbageLines,
    messages: 1,
    broken: ['what it writes to stdout is not a message: "y"'],
    closed: 1,
  });
});
