/** The booted system with each driver whose wire is not that of other tests: found by its variables, and worked with. */
import { expect, it } from "vitest";
import { MODEL_KEY, modelEnv } from "../harness/model.ts";
import { onStage, server, startModel, world } from "../harness/stage.ts";
import { blocks, text, thinking, toolUse } from "../model-server/reply.ts";

onStage();

const call = (name: string, input: object) => ({ name, input });
const view = (file_path: string) => call("view", { file_path });
const edit = call("edit", { file_path: "a.txt", old_string: "one", new_string: "uno" });
const bash = call("bash", { command: "cat a.txt && echo ran > c.txt" });

it.each(["responses", "gemini", "ollama", "bedrock"] as const)(
  "works over %s: calls side by side and one after another, and every request is taken",
  async (dialect) => {
    await startModel({
      script: [
        blocks(thinking("Both, first."), "I look.", toolUse([view("a.txt"), view("b.txt")])),
        toolUse(edit),
        blocks(thinking("Now run it."), toolUse(bash)),
        text("All done."),
      ],
      verifySignatures: true,
      ...(dialect === "ollama" ? {} : { apiKey: MODEL_KEY }),
    });
    world.write("a.txt", "one\n");
    world.write("b.txt", "two\n");
    const env = modelEnv(server, dialect);
    const { code, stdout, stderr } = await world.crux(["--permission-mode", "bypass", "change", "one"], {
      env,
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("\n  All done.\n");
    expect([world.file("a.txt"), world.file("c.txt")]).toEqual(["uno\n", "ran\n"]);
    expect([server.rejected, server.unexpected, server.aborted]).toEqual([[], [], []]);
    expect(server.requests[1]!.lastToolResults.map(({ content }) => content)).toEqual(["one\n", "two\n"]);
    expect(server.requests[0]!.tools).toContain("tool_search");
  },
);
