import { expect, test } from "vitest";
import { Fault } from "../abi/errors.ts";
import { en } from "../cli/screen/words/en.ts";
import { CHANGES } from "./session-changes.ts";

async function changed(name: string, text: string, answer: object = {}) {
  const asked: unknown[] = [];
  const said: string[] = [];
  const request = async (method: string, params: object) => {
    asked.push([method, params]);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const app = {
    client: { request },
    pid: 7,
    cwd: "/work",
    words: en,
    say: (line: string) => said.push(line),
  };
  await CHANGES[name]?.(app as never, text);
  return { asked, said };
}

test("/effort asks for a level of the model, and tells what came of it", async () => {
  expect(await changed("effort", "high", { effort: "high", model: "m" })).toEqual({
    asked: [["process.model", { pid: 7, effort: "high" }]],
    said: ["effort: high, from the next run on"],
  });
  expect((await changed("effort", "low", { model: "m" })).said).toEqual(["m takes no effort"]);
  const unknown = await changed("effort", "enormous");
  expect([unknown.asked, unknown.said[0]]).toEqual([
    [],
    "/effort takes one of low, medium, high, xhigh, max",
  ]);
});

test("/diff asks for the way back to the begin, which changes nothing; before anything was said there is none", async () => {
  const back = { files: [], commands: ["make"], command_count: 1 };
  expect(await changed("diff", "", back)).toEqual({
    asked: [["process.rewind", { pid: 7, at: { step: 0 }, files: true, fork: false, dry_run: true }]],
    said: ["no file was changed by tools\nnot listed: what commands changed (make)"],
  });
  const refused = new Fault({ code: "INVALID", message: "nothing was said" });
  expect((await changed("diff", "", refused)).said).toEqual(["no file was changed by tools"]);
});

test("/add-dir asks for a folder, from the folder of the session on, and tells all; alone it asks for nothing new", async () => {
  const dirs = ["/work", "/"];
  expect(await changed("add-dir", "..", { dirs })).toEqual({
    asked: [["session.change", { pid: 7, dirs: ["/"] }]],
    said: ["works in /work, /"],
  });
  expect((await changed("add-dir", "", { dirs })).asked).toEqual([["session.change", { pid: 7 }]]);
  const refused = await changed("add-dir", "../no such\x1b[2J", { dirs });
  expect([refused.asked, refused.said]).toEqual([[], ["no such folder: /no such\\x1b[2J"]]);
});
