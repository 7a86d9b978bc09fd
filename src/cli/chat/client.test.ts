import { expect, test } from "vitest";
import type { DaemonAccess } from "../daemon/client.ts";
import { ChatClient } from "./client.ts";

test("what only reads waits for no request that was made before it, and none waits for it", async () => {
  const asked: string[] = [];
  const slow = Promise.withResolvers<void>();
  const request = async (method: string) => {
    asked.push(method);
    if (method === "process.steps" || method === "session.say") await slow.promise;
    return {};
  };
  const ensure = async () => ({ request, close: () => {} });
  const client = new ChatClient({ ensure } as unknown as DaemonAccess);
  const steps = client.aside.request("process.steps", { pid: 1 });
  const said = client.say(1, "hello");
  const mode = client.mode(1);
  await client.aside.request("session.history", { pid: 1 });
  expect(asked.toSorted()).toEqual(["process.steps", "session.history", "session.say"]);
  slow.resolve();
  await Promise.all([steps, said, mode]);
  expect(asked.at(-1)).toBe("process.mode");
});
