import { describe, expect, test } from "vitest";
import type { Nearby } from "../../abi/surroundings.ts";
import { FakeProcess } from "../testing/fake-process.ts";
import { call, reply, says } from "../testing/replies.ts";

const around = { confinement: null, scratch: "", git: "", instructions: [], notices: [] };
const cwd = "/home/ada/project";
const nestedAt = (dir: string): Nearby => ({
  instructions: [{ path: `${dir}/AGENTS.md`, scope: "nested", text: "Mind the gap." }],
  notices: ["careful"],
});

async function run(calls: readonly ReturnType<typeof call>[], said = {}) {
  const asked: (readonly string[])[] = [];
  const process = new FakeProcess({
    answers: [...calls.map((each) => reply([each])), reply("done")],
    tools: { view: says("content"), ls: says("a") },
    surroundings: around,
    nearby: (dirs) => {
      asked.push(dirs);
      return nestedAt(`${cwd}/sub`);
    },
    ...said,
  });
  await process.run();
  return { asked, process };
}

describe("NearbyGuides", () => {
  test("tells the files of a touched folder once, after the results, and asks once for each folder", async () => {
    const { asked, process } = await run([
      call("view", { file_path: "sub/deep/a.ts" }, "1"),
      call("view", { file_path: `${cwd}/sub/b.ts` }, "2"),
      call("ls", { path: "sub/other" }, "3"),
    ]);
    expect(asked).toEqual([[`${cwd}/sub/deep`], [`${cwd}/sub/other`]]);
    const told = process.messages.flatMap(({ role, content }) => (role === "user" ? [content] : []));
    expect(told).toEqual([
      "do it",
      `<system-reminder>\n<instructions path="${cwd}/sub/AGENTS.md" of="this folder of the project">\nMind the gap.\n</instructions>\n</system-reminder>`,
    ]);
    expect(process.messages[3]?.content).toBe(told[1]);
    expect(process.logs).toEqual(["careful", `instructions: ${cwd}/sub/AGENTS.md`, "careful"]);
  });

  test("asks about no folder outside its own, and about none without a path", async () => {
    const { asked } = await run([
      call("view", { file_path: "a.ts" }, "1"),
      call("view", { file_path: "../elsewhere/a.ts" }, "2"),
      call("ls", {}, "3"),
      call("ls", { path: "sub/../.." }, "4"),
    ]);
    expect(asked).toEqual([]);
  });
});
