import { expect, test } from "vitest";
import type { ControlResponse } from "../../abi/print/print.ts";
import { ChatClient } from "../chat/client.ts";
import { FakeDaemon, Feed } from "../testing/fake-daemon.ts";
import { Controls } from "./controls.ts";
import { ToolServers } from "./tool-servers.ts";

function controls({ pid }: { pid?: number }) {
  const daemon = new FakeDaemon(
    {
      "process.model": () => ({}),
      "process.mode": ({ mode = "default" }: { mode?: string }) => ({ mode }),
    } as never,
    new Feed(),
  );
  const said: ControlResponse["response"][] = [];
  const client = new ChatClient(daemon);
  const servers = new ToolServers(() => {});
  const put = ({ response }: ControlResponse) => void said.push(response);
  const made = new Controls({ client, servers, put });
  if (pid !== undefined) made.comes(Promise.resolve(pid));
  const ask = async (asks: string, fields = {}) => {
    made.take({ kind: "control", id: "r", asks, with: fields });
    await expect.poll(() => said.length).toBe(1);
    return said.pop();
  };
  return { daemon, ask };
}

test("a session gets another mode, in either spelling, and another model", async () => {
  const { daemon, ask } = controls({ pid: 7 });
  expect(await ask("set_permission_mode", { mode: "acceptEdits" })).toMatchObject({ subtype: "success" });
  expect(await ask("set_model", { model: "haiku" })).toMatchObject({ subtype: "success" });
  expect(daemon.asked).toEqual([
    ["process.mode", { pid: 7, mode: "accept_edits" }],
    ["process.model", { pid: 7, model: "haiku" }],
  ]);
});

test("what cannot be done is answered with the reason", async () => {
  const [begun, none] = [controls({ pid: 7 }), controls({})];
  const error = (message: string) => ({ subtype: "error", request_id: "r", error: message });
  expect(await begun.ask("set_permission_mode", { mode: "all" })).toEqual(
    error("unknown permission mode: all"),
  );
  expect(await begun.ask("rewind_files")).toEqual(error("not supported: rewind_files"));
  expect(await begun.ask("initialize")).toEqual(error("the session has begun"));
  expect(await none.ask("set_model", { model: "haiku" })).toEqual(error("the session has not begun"));
  expect([...begun.daemon.asked, ...none.daemon.asked]).toEqual([]);
});
