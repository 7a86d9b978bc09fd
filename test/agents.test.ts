/** Agents that start agents: through the booted system, with a model server that answers each conversation by its task. */

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { unconfined } from "./harness/confined.ts";
import { modelEnv } from "./harness/model.ts";
import { onSharedStage, ownWorld, server, startModel, world } from "./harness/stage.ts";
import { TerminalWindow } from "./harness/terminal.ts";
import { Wire } from "./harness/wire.ts";
import { settled } from "./harness/world.ts";
import { error, type Reply, text, toolUse } from "./model-server/reply.ts";
import type { ModelRequest } from "./model-server/request.ts";
import { userTexts } from "./model-server/request.ts";

onSharedStage();

type Play = (request: ModelRequest) => Reply | Promise<Reply>;

/** What the user, or the agent that started it, asked a conversation to do. */
const taskOf = ({ messages }: ModelRequest): string =>
  (messages.flatMap((message) => (message.role === "user" ? userTexts(message) : []))[0] ?? "").split(
    "\n<crux-note>",
  )[0]!;
const childCall = (prompt: string, more: object = {}) => ({
  name: "agent",
  input: { description: `does ${prompt}`, prompt, ...more },
});
const results = ({ lastToolResults }: ModelRequest) => lastToolResults.map(({ content }) => String(content));

/** `parts`: what each task is answered with. */
const serve = (parts: Readonly<Record<string, Play>>) =>
  startModel({
    script: (request) => {
      const part = parts[taskOf(request)];
      if (part === undefined) throw new Error(`nobody plays ${taskOf(request)}`);
      return part(request);
    },
  });
const crux = (...args: string[]) => world.crux(args, { env: modelEnv(server) });
const requestsOf = (task: string) => server.requests.filter((request) => taskOf(request) === task);
const killDaemon = () => process.kill(world.daemonPid!, "SIGKILL");

const bodies = (kind: string) => world.bodies(kind);
async function ask(method: string, payload: unknown) {
  await using wire = await Wire.open(world.socket);
  return await wire.ask(method, payload);
}
const spawned = () => bodies("process.spawned").map(({ intent }) => intent);

function agentFile(name: string, head: readonly string[]): void {
  const dir = join(world.dir, "config/crux/agents");
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, `${name}.md`), ["---", `name: ${name}`, ...head, "---", "Do it."].join("\n"));
}

describe("the initial prompt of an agent file", () => {
  it("stands before the task of a child and the first message of a session, and its skill is loaded", async () => {
    agentFile("starter", ["description: begins", "initialPrompt: /greet Ada"]);
    const skill = join(world.dir, "config/crux/skills/greet");
    mkdirSync(skill, { recursive: true });
    writeFileSync(join(skill, "SKILL.md"), "---\nname: greet\ndescription: greets\n---\nSay HI to $1.");
    await startModel({
      script: (request) => {
        const isLead = taskOf(request) === "lead" && request.assistantTurns === 0;
        return isLead ? toolUse(childCall("dig", { subagent_type: "starter" })) : text("over");
      },
    });
    const begunWith = (words: string) => server.requests.filter((each) => taskOf(each).startsWith(words));
    expect((await crux("-q", "lead")).code).toBe(0);
    expect(begunWith("/greet Ada\n\ndig")[0]!.rawBody).toContain("Say HI to Ada.");
    const env = { ...world.env, ...modelEnv(server) };
    const wish = { intent: "", agent: "starter", session: true, detach: true, cwd: world.work, env };
    const { pid } = (await ask("spawn", wish))!.payload as { pid: number };
    for (const words of ["hello", "again"]) {
      const before = server.requests.length;
      await ask("session.say", { pid, text: words });
      await server.waitFor(() => server.requests.length > before && server.inFlight === 0);
    }
    const said = begunWith("/greet Ada\n\nhello");
    expect(said.map(({ lastUserText }) => lastUserText.includes("again"))).toEqual([false, true]);
    for (const { rawBody } of said) {
      expect(rawBody.split("/greet Ada")).toHaveLength(2);
      expect(rawBody.split("Say HI to Ada.")).toHaveLength(2);
    }
    await ask("kill", { pid, signal: 1 });
  });
});

describe("the tool agent", () => {
  it("gives a task to an agent and returns its last message, with what it used", async () => {
    await serve({
      lead: (request) =>
        request.assistantTurns === 0 ? toolUse(childCall("dig")) : text(`It said: ${results(request)[0]}`),
      dig: () => text("Found it."),
    });
    const { code, stdout } = await crux("-q", "lead");
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^It said: Found it\.\n\n\[agent-[0-9a-f]{12}, pid \d+: \d+ tokens, \d+\.\d s\]\n$/,
    );
    expect(requestsOf("dig")[0]!.tools).toContain("agent");
    expect(requestsOf("dig")[0]!.rawBody).not.toContain("It said");
  });

  it("shows a line as soon as one is started", async () => {
    const shown = Promise.withResolvers<void>();
    await serve({
      "lead please": (request) => (request.assistantTurns === 0 ? toolUse(childCall("dig")) : text("Done.")),
      dig: async () => {
        await shown.promise;
        return text("Found it.");
      },
    });
    await using window = new TerminalWindow(world, ["lead please"], { columns: 100, env: modelEnv(server) });
    await window.until(({ rows }) => rows.some((row) => /^○ agent.* does dig pid \d+$/.test(row)));
    shown.resolve();
    await window.shows("Done.");
  });

  it("runs the calls of one reply beside each other", async () => {
    const both = Promise.withResolvers<void>();
    let waiting = 0;
    const meet = async (): Promise<Reply> => {
      if (++waiting === 2) both.resolve();
      await both.promise;
      return text("Met.");
    };
    await serve({
      lead: (request) =>
        request.assistantTurns === 0
          ? toolUse([
              childCall("one", { subagent_type: "explore" }),
              childCall("two", { subagent_type: "Plan" }),
            ])
          : text(results(request).join(" and ")),
      one: meet,
      two: meet,
    });
    expect((await crux("-q", "lead")).stdout).toBe("Met. and Met.\n");
  });

  it("narrows the rights of a child by its agent file, and those of its own children with them", async () => {
    agentFile("reader", ["disallowedTools: write, edit, multi_edit, bash, notebook_edit"]);
    const write = toolUse({ name: "write", input: { file_path: "a.txt", content: "x" } });
    await serve({
      lead: (request) =>
        request.assistantTurns === 0
          ? toolUse(childCall("read", { subagent_type: "reader" }))
          : text("Over."),
      read: (request) => (request.assistantTurns === 0 ? toolUse(childCall("below")) : text("Read.")),
      below: (request) => (request.assistantTurns === 0 ? write : text(results(request)[0] ?? "")),
    });
    const { code } = await crux("-q", "--permission-mode", "bypass", "lead");
    expect(code).toBe(0);
    expect(results(requestsOf("read")[1]!)[0]).toMatch(/tool not found: write/);
    expect(() => world.file("a.txt")).toThrow();
  });

  it("refuses an agent that a rule denies, starts no other, and does not list it", async () => {
    agentFile("loud", ["description: Speaks up"]);
    world.settings({ permissions: { deny: ["Agent(Explore)"] } });
    await serve({
      lead: (request) =>
        request.assistantTurns === 0
          ? toolUse([
              childCall("dig", { subagent_type: "explore" }),
              childCall("dig", { subagent_type: "nobody" }),
            ])
          : text(results(request).join("\n")),
      dig: () => text("Never."),
    });
    const { stdout } = await crux("-q", "lead");
    expect(stdout).toMatch(/Error \[PERMISSION\]: .*Agent\(Explore\).* refuses start explore/);
    expect(stdout).toMatch(/Error \[NOT_FOUND\]: agent not found: nobody\. Agents here: .*loud/);
    expect(spawned()).toEqual(["lead"]);
    const { rawBody } = server.requests[0]!;
    expect(rawBody).toContain("- loud: Speaks up");
    expect(rawBody).toContain("- plan: ");
    expect(rawBody).not.toContain("- explore: ");
  });

  it("ends at depth 5: the sixth level is refused with a budget that no retry helps", async () => {
    const down: Play = (request) => {
      const depth = Number(/\d+$/.exec(taskOf(request))?.[0]);
      return request.assistantTurns === 0
        ? toolUse(childCall(`level ${depth + 1}`))
        : text(results(request)[0]!);
    };
    await serve(Object.fromEntries(Array.from({ length: 7 }, (_, depth) => [`level ${depth}`, down])));
    const { stdout } = await crux("-q", "level 0");
    expect(stdout).toMatch(
      /Error \[BUDGET\]: budget exceeded of process \d+: levels of agents below: limit 5, used 5/,
    );
    expect(spawned()).toEqual([0, 1, 2, 3, 4, 5].map((depth) => `level ${depth}`));
  });

  it("returns what a failed agent said last, with the reason; without a word, only the reason", async () => {
    agentFile("brief", ["maxTurns: 1"]);
    const look = toolUse({ name: "ls", input: {} });
    await serve({
      lead: (request) =>
        request.assistantTurns === 0
          ? toolUse([
              childCall("talk", { subagent_type: "brief" }),
              childCall("mute", { subagent_type: "brief" }),
              ...["late", "soon"].map((name) => childCall(name)),
            ])
          : text("Over."),
      talk: () => text("So far so good.").and(look),
      mute: () => look,
      late: (request) => (request.assistantTurns === 0 ? text("I look.").and(look) : error(400)),
      soon: () => error(400),
    });
    await crux("-q", "lead");
    const [talk, mute, late, soon] = results(requestsOf("lead")[1]!);
    const fault = String.raw`Error \[DRIVER\]: agent general-purpose \(pid \d+\) failed: \S[^\n]*`;
    expect(late).toMatch(new RegExp(`^I look\\.\n${fault}\nAbove is what it said last; it is not finished`));
    expect(soon).toMatch(new RegExp(`^${fault}$`));
    expect(soon).not.toContain("Above");
    expect(talk).toMatch(
      /^So far so good\.\nError \[BUDGET\]: agent brief \(pid \d+\) failed: max steps exceeded\nAbove/,
    );
    expect(mute).toMatch(/^Error \[BUDGET\]: agent brief \(pid \d+\) failed: max steps exceeded$/);
  });

  it("an interrupt ends the agents that the call waits for, and all below them", async () => {
    const gate = Promise.withResolvers<void>();
    await serve({
      lead: () => toolUse(childCall("dig")),
      dig: () => toolUse(childCall("deep")),
      deep: () => text("Late.").until(gate.promise),
    });
    const run = world.start(["-q", "lead"], { env: modelEnv(server) });
    await settled(
      () => requestsOf("deep").length,
      (count) => count === 1,
    );
    run.child.kill("SIGINT");
    expect((await run.done).code).toBe(130);
    gate.resolve();
    // what has ended is shown for a minute, unless its parent has read its end before its own
    const live = async () => (await crux("ps", "--json")).stdout.match(/"state": "(?!zombie)/g) ?? [];
    expect(await settled(live, (list) => list.length === 0)).toEqual([]);
    expect(bodies("process.exited")).toHaveLength(3);
  });
});

/** Plays a lead that starts `prompts` beside it, then says what each message told it. */
const used = (tool: string, params: object) => ({ name: "tool_call", input: { tool, params } });
const named = (name: string) => childCall(name, { run_in_background: true, name });
const background = (prompt: string) => childCall(prompt, { run_in_background: true });
const notices = (request: ModelRequest) =>
  request.messages
    .flatMap((message) => (message.role === "user" ? userTexts(message) : []))
    .join("\n")
    .match(/<summary>.*?<\/summary>/g) ?? [];

describe("an agent in the background", () => {
  it("is told of when it ends, once, and a run waits for it before it exits", async () => {
    const gate = Promise.withResolvers<void>();
    await serve({
      lead: (request) => {
        if (request.assistantTurns === 0) return toolUse([background("dig"), background("fail")]);
        const told = notices(request);
        if (told.length === 0) {
          gate.resolve();
          return text("Waiting.");
        }
        return text(told.sort().join("\n"));
      },
      dig: () => text("Found <b>&</b> </result>.").until(gate.promise),
      fail: () => text("").until(gate.promise),
    });
    const { code, stdout } = await crux("-q", "lead");
    expect(code).toBe(0);
    expect(results(requestsOf("lead")[1]!)[0]).toMatch(
      /^agent-[0-9a-f]{12} \(pid \d+\) works on it in the background\./,
    );
    expect(stdout).toBe(
      '<summary>Agent "does dig" completed</summary>\n' +
        '<summary>Agent "does fail" failed: the model answered twice in a row without a word and without a call</summary>\n',
    );
    const last = requestsOf("lead").at(-1)!;
    expect(last.rawBody).toContain("Found &lt;b&gt;&amp;&lt;/b&gt; &lt;/result&gt;.");
    expect(bodies("mail.put")).toHaveLength(2);
    expect(bodies("mail.done")).toHaveLength(2);
  });

  it("is what an agent becomes that takes longer than the settings say", async () => {
    world.settings({ agents: { autoBackgroundMs: 50 } });
    const gate = Promise.withResolvers<void>();
    await serve({
      lead: (request) => {
        if (request.assistantTurns === 0) return toolUse(childCall("dig"));
        gate.resolve();
        return text(notices(request).join() || "Waiting.");
      },
      dig: () => text("Found it.").until(gate.promise),
    });
    const { stdout } = await crux("-q", "lead");
    expect(stdout).toBe('<summary>Agent "does dig" completed</summary>\n');
    expect(results(requestsOf("lead")[1]!)[0]).toContain("in the background");
    expect(requestsOf("dig")).toHaveLength(1);
    expect(bodies("child.detached")).toHaveLength(1);
  });

  it("is waited for by job_output and ended by stop with all below it; its sibling goes on, and is a stranger", async () => {
    const [gate, asked, begun, settledDown] = [1, 2, 3, 4].map(() => Promise.withResolvers<void>());
    const idOf = (result = "") => /agent-[0-9a-f]{12}/.exec(result)?.[0];
    let ids: (string | undefined)[] = [];
    const nap = (s: number) =>
      toolUse({ name: "bash", input: { command: `sleep ${s}; true`, run_in_background: true } });
    const naps = () => [601, 602, 603].filter((s) => world.commands(new RegExp(`^sleep ${s}$`)).length > 0);
    const seen: number[][] = [];
    await serve({
      lead: async (request) => {
        switch (request.assistantTurns) {
          case 0:
            return toolUse([background("dig"), named("top"), named("side")]);
          case 1:
            // before it asks again, neither has ended; the one that it stops has started another by then
            ids = results(request).map(idOf);
            asked!.resolve();
            return toolUse(used("job_output", { shell_id: ids[0] })).until(begun!.promise);
          case 2:
            await settledDown!.promise;
            seen.push(await settled(naps, ({ length }) => length === 3));
            return toolUse(used("stop", { to: ids[1] }));
          case 3:
            seen.push(naps());
            gate!.resolve();
            return text(results(request)[0]!);
          default:
            return text(notices(request).join());
        }
      },
      dig: () => text("Found it.").until(asked!.promise),
      top: (request) => (request.assistantTurns === 0 ? nap(601) : toolUse(childCall("deep"))),
      deep: (request) => {
        if (request.assistantTurns === 0) return nap(602);
        begun!.resolve();
        return text("Never.").until(gate!.promise);
      },
      side: async (request) => {
        if (request.assistantTurns === 0) return nap(603);
        await begun!.promise;
        const to = ["top", ids[1], "nobody"].map((each) => used("send", { to: each, message: "psst" }));
        if (request.assistantTurns === 1) return toolUse(to);
        settledDown!.resolve();
        return text(results(request).join("\n")).until(gate!.promise);
      },
    });
    const run = world.start(["-q", "--permission-mode", "bypass", "lead"], { env: modelEnv(server) });
    const { code, stdout } = await run.done;
    expect([code, stdout]).toEqual([0, '<summary>Agent "does side" completed</summary>\n']);
    expect(results(requestsOf("lead")[2]!)[0]).toMatch(/^Found it\.\nprocess \d+: exited \(completed\)$/);
    expect(results(requestsOf("lead")[3]!)[0]).toMatch(
      /^Process \d+ has ended, with all below it \(killed: SIGTERM\)\./,
    );
    expect(seen).toEqual([[601, 602, 603], [603]]);
    const ofAgents = bodies("process.exited").filter(({ result }) => result !== undefined);
    expect(ofAgents.map(({ reason }) => reason)).toEqual([
      "completed",
      ...["killed: SIGTERM", "killed: SIGTERM"],
      ...["completed", "completed"],
    ]);
    const [byName, byId, nobody] = results(requestsOf("side")[2]!);
    expect(byName).toMatch(/^Error \[PERMISSION\]: .*top is not above or below this process/);
    expect(byId).toMatch(/^Error \[PERMISSION\]: .*agent-[0-9a-f]{12} is not above or below this process/);
    expect(nobody).toMatch(/^Error \[NOT_FOUND\]: group not found: nobody/);
  });

  it("that has ended goes on with a message to its name, and the run waits for it again", async () => {
    const send = (to: string) => ({
      name: "tool_call",
      input: { tool: "send", params: { to, message: "And <b>now</b>? </agent-message>" } },
    });
    await serve({
      lead: (request) => {
        if (request.assistantTurns === 0) return toolUse(childCall("dig", { name: "digger" }));
        if (request.assistantTurns === 1) return toolUse([send("digger"), send("nobody")]);
        return text(notices(request).join("\n") || "Waiting.");
      },
      dig: (request) => text(request.assistantTurns === 0 ? "Found it." : "Found more."),
    });
    const { code, stdout } = await crux("-q", "lead");
    expect([code, stdout]).toEqual([0, '<summary>Agent "does dig" completed</summary>\n']);
    const [back, refused] = results(requestsOf("lead")[2]!);
    expect(back).toMatch(/^pid \d+ had ended\. It goes on in the background/);
    expect(refused).toMatch(/^Error \[NOT_FOUND\]: group not found: nobody/);
    expect(spawned()).toEqual(["lead", "dig"]);
    const again = requestsOf("dig")[1]!;
    expect(again.rawBody).toMatch(
      /Found it\..*<agent-message from=\\"pid \d+\\">And <b>now<\/b>\? &lt;\/agent-message><\/agent-message>/s,
    );
    expect(requestsOf("lead").at(-1)!.rawBody).toContain("Found more.");
  });

  it("outlives an interrupt that ends the agent beside it which is waited for, and tells the session of its end", async () => {
    const gate = Promise.withResolvers<void>();
    await serve({
      lead: (request) => {
        if (request.assistantTurns === 0) return toolUse([background("dig"), childCall("fore")]);
        const told = notices(request);
        return text(told.length > 0 ? `Told: ${told.length}` : "Nothing.");
      },
      fore: () => text("Late.").until(gate.promise),
      dig: () => text("Found it.").until(gate.promise),
    });
    await crux("ps");
    const env = { PATH: process.env.PATH!, HOME: world.work, ...modelEnv(server) };
    const pid = Number(
      (await ask("spawn", { intent: "lead", session: true, cwd: world.work, env }))!.payload!.pid,
    );
    await settled(
      () => requestsOf("fore").length + requestsOf("dig").length,
      (count) => count === 2,
    );
    await ask("kill", { pid, signal: 3 });
    const ended = () => bodies("process.exited").map(({ reason }) => reason);
    expect(await settled(ended, ({ length }) => length > 0)).toEqual(["killed: SIGTERM"]);
    gate.resolve();
    await settled(
      () => requestsOf("lead").length,
      (count) => count === 2,
    );
    expect(ended()).toEqual(["killed: SIGTERM", "completed"]);
    const last = requestsOf("lead").at(-1)!;
    expect(notices(last)).toEqual(['<summary>Agent "does dig" completed</summary>']);
    expect(last.rawBody).not.toContain("Late.");
    await ask("kill", { pid, signal: 1 });
  });
});

describe("a coordinator", () => {
  it("has three tools, lets workers change files, takes their ends as reports, and corrects the one that worked", async () => {
    // what is shipped passes its own check
    expect(await world.crux(["agents", "check"])).toMatchObject({ code: 0 });
    const hasReturned = Promise.withResolvers<void>();
    const send = { name: "send", input: { to: "first", message: "And the docs." } };
    const work = (prompt: string, name: string) => childCall(prompt, { subagent_type: "worker", name });
    await serve({
      lead: (request) => {
        if (request.assistantTurns === 0) return toolUse([work("fix a", "first"), work("fix b", "second")]);
        const told = notices(request);
        if (request.assistantTurns === 1) hasReturned.resolve();
        if (told.length === 2 && results(request).length === 0) return toolUse(send);
        return text(told.length < 3 ? "Running." : `Done: ${told.length}`);
      },
      "fix a": (request) =>
        request.assistantTurns === 0
          ? toolUse({ name: "write", input: { file_path: "a.txt", content: "a" } })
          : text(`a ${request.assistantTurns}`).until(hasReturned.promise),
      "fix b": () => text("b").until(hasReturned.promise),
    });
    const { code, stdout } = await crux(
      "-q",
      "--agent",
      "coordinator",
      "--permission-mode",
      "accept_edits",
      "lead",
    );
    expect([code, stdout]).toEqual([0, "Done: 3\n"]);
    expect(requestsOf("lead")[0]!.tools).toEqual(["agent", "send", "stop"]);
    expect(results(requestsOf("lead")[1]!)[0]).toContain("in the background");
    expect(world.file("a.txt")).toBe("a");
    expect(requestsOf("fix a").at(-1)!.rawBody).toContain("And the docs.");
    expect(requestsOf("fix a")[0]!.tools).not.toContain("send");
  });
});

describe("the coordinator of the environment", () => {
  it("begins where no agent is named, its workers may have three tools, and a session stays what it began as", async () => {
    ownWorld();
    const work = childCall("fix", { subagent_type: "worker" });
    const lead: Play = (request) => {
      if (request.assistantTurns === 0 && request.tools.length === 3) return toolUse(work);
      return text(notices(request).length === 0 ? "Running." : "Done.");
    };
    await serve({ lead, fix: () => text("Fixed."), plain: () => text("Plain.") });
    const as = (env: object, ...args: string[]) =>
      world.crux(["-q", ...args], { env: { ...modelEnv(server), ...env } });
    const mode = { CRUX_COORDINATOR_MODE: "1", CRUX_SIMPLE: "1" };
    const three = ["agent", "send", "stop"];
    expect((await as(mode, "lead")).stdout).toBe("Done.\n");
    expect(requestsOf("lead")[0]!.tools).toEqual(three);
    expect(requestsOf("fix")[0]!.tools.toSorted()).toEqual(["bash", "edit", "view"]);
    expect((await as({}, "-r", "1", "and now?")).code).toBe(0);
    expect(requestsOf("lead").at(-1)).toMatchObject({ tools: three, lastUserText: "and now?" });
    expect((await as({}, "plain")).code).toBe(0);
    expect((await as(mode, "-r", "3", "and here?")).code).toBe(0);
    expect(requestsOf("plain").at(-1)!.lastUserText).toBe("and here?");
    expect(requestsOf("plain").at(-1)!.tools).toContain("bash");
  });
});

const told = (request: ModelRequest) =>
  request.messages.flatMap((message) => (message.role === "user" ? userTexts(message) : [])).join("\n");
/** The number of a request in a message of the team. */
const requestIn = (request: ModelRequest, type: string) =>
  new RegExp(`"type":"${type}","request_id":"([^"]+)"`).exec(told(request))?.[1];
const answered = (type: string, id: string | undefined) => ({ type, request_id: id, approve: true });

describe("a team", () => {
  /** Takes a task, writes to the other, rests, and ends when the lead wants it. */
  const alice: Play = (request) => {
    const end = requestIn(request, "shutdown_request");
    const work = [
      toolUse(used("task_update", { task_id: "1", status: "in_progress" })),
      toolUse(used("task_update", { task_id: "1", status: "completed" })),
      toolUse(used("send", { to: "bob", message: "yours is free" })),
    ];
    const next = work[request.assistantTurns];
    if (next !== undefined) return next;
    if (end === undefined) return text("One is done.");
    const hasAgreed = results(request)[0]?.includes("last word") === true;
    return hasAgreed
      ? text("Bye.")
      : toolUse(used("send", { to: "main", message: answered("shutdown_response", end) }));
  };
  const write = (path: string) => toolUse({ name: "write", input: { file_path: path, content: "b" } });
  /** Plans first: nothing it writes reaches the folder before the lead has agreed. */
  const bob: Play = (request) => {
    const [, plan = ""] = /Write the plan to (\S+\/plan\.md)/.exec(told(request)) ?? [];
    const work = [write("b.txt"), write(plan), toolUse(used("plan_exit", {})), text("Planned.")];
    const next = work[request.assistantTurns];
    if (next !== undefined) return next;
    if (requestIn(request, "plan_approval_response") === undefined) return text("Planned still.");
    return results(request)[0]?.includes("b.txt") === true ? text("Two is done.") : write("b.txt");
  };
  /** Starts both, then does what their messages ask for, each once. */
  function playLead(): Play {
    const done = new Set<string>();
    const begun = [
      toolUse(used("team_create", { team_name: "crew" })),
      toolUse([
        used("task_create", { subject: "One", description: "" }),
        used("team_create", { team_name: "other" }),
      ]),
      toolUse([childCall("be alice", { name: "alice" }), childCall("be bob", { name: "bob", mode: "plan" })]),
      toolUse([
        childCall("be bob", { name: "bob" }),
        childCall("be bob", { name: "carol", team_name: "other" }),
      ]),
    ];
    return (request) => {
      const once = (what: string, isTime: boolean) => isTime && !done.has(what) && done.add(what);
      const plan = requestIn(request, "plan_approval_request");
      const said = told(request);
      if (begun[request.assistantTurns] !== undefined) return begun[request.assistantTurns]!;
      // Bob rests, and has Alice's message: what wakes him now is the answer, whoever was faster.
      const isRested = /"Planned( still)?\."/.test(said) && said.includes("One is done.");
      if (once("plan", plan !== undefined && isRested)) {
        const message = (id: string) =>
          used("send", { to: "bob", message: answered("plan_approval_response", id) });
        return toolUse([message("plan-0"), message(plan!)]);
      }
      if (once("end", said.includes("Two is done.")))
        return toolUse(used("send", { to: "alice", message: { type: "shutdown_request" } }));
      if (once("over", notices(request).length > 0))
        return toolUse([used("team_delete", {}), used("stop", { to: "bob" }), used("team_delete", {})]);
      return text(results(request).join("\n") || "Waiting.");
    };
  }

  it("shares tasks and messages, plans first where the lead says so, and ends when asked", async () => {
    await serve({ lead: playLead(), "be alice": alice, "be bob": bob });
    const { code, stdout } = await crux("-q", "--permission-mode", "accept_edits", "lead");
    expect(code).toBe(0);
    const [first = "", second = "", third = ""] = stdout.split(/\n(?=Process|Team)/);
    expect(first).toMatch(/^Error \[CONFLICT\]: members of team crew are there still: bob \(pid \d+\)/);
    expect(second).toContain("It said last:\nTwo is done.");
    expect(third).toBe("Team crew has ended; its tasks are gone.\n");
    const [made, more, , refused] = [1, 2, 3, 4].map((at) => results(requestsOf("lead")[at]!));
    expect(made![0]).toMatch(
      /^Team crew is there, its tasks are list crew; all agents of this session share the folder \//,
    );
    expect(more![1]).toMatch(/^Error \[CONFLICT\]: this process leads team crew already/);
    expect(refused![0]).toMatch(/^Error \[CONFLICT\]: .*team crew has a member bob already/);
    expect(refused![1]).toMatch(/^Error \[NOT_FOUND\]: this process leads no team other/);
    const { rawBody } = requestsOf("lead").at(-1)!;
    expect(rawBody).toMatch(/Error \[CONFLICT\]: no plan of process \d+ waits under plan-0/);
    for (const summary of ["One is done.", "Planned( still)?\\.", "Two is done."])
      expect(rawBody).toMatch(new RegExp(`idle_notification[^{}]*${summary}`));
    expect(results(requestsOf("be bob")[1]!)[0]).toContain("plan mode: no file is changed");
    expect(results(requestsOf("be alice")[1]!)[0]).toMatch(/^Task 1 \[in_progress, pid \d+\] One/);
    expect(world.file("b.txt")).toBe("b");
  });

  it("whose member fails has its task back, without an owner, and its lead is told of both once", async () => {
    const claim = toolUse(used("task_update", { task_id: "1", status: "in_progress" }));
    const begun = [
      toolUse(used("team_create", { team_name: "frail" })),
      toolUse(used("task_create", { subject: "One", description: "" })),
      toolUse(childCall("be frail", { name: "ada" })),
    ];
    let isOver = false;
    await serve({
      lead: (request) => {
        const said = told(request);
        const isKnown = said.includes("pending again") && notices(request).length > 0;
        const over = toolUse([used("task_get", { task_id: "1" }), used("team_delete", {})]);
        if (begun[request.assistantTurns] !== undefined) return begun[request.assistantTurns]!;
        if (!isKnown || isOver) return text("Waiting.");
        isOver = true;
        return over;
      },
      "be frail": (request) => (request.assistantTurns === 0 ? claim : error(400)),
    });
    expect((await crux("-q", "lead")).code).toBe(0);
    const last = requestsOf("lead").at(-1)!;
    const [task, team] = results(last);
    expect(results(requestsOf("be frail")[1]!)[0]).toMatch(/^Task 1 \[in_progress, pid \d+\] One/);
    expect(task).toMatch(/^1 \[pending\] One/);
    expect(team).toContain("Team frail has ended");
    expect(
      told(last).match(/process \d+ has ended; its unfinished tasks are pending again: 1 \(One\)/g),
    ).toHaveLength(1);
    expect(notices(last)).toEqual([expect.stringMatching(/^<summary>Agent "does be frail" failed: /)]);
  });
});

interface DocCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

describe("docs/many-agents.md", () => {
  const page = readFileSync(new URL("../docs/many-agents.md", import.meta.url), "utf8");
  const recipes = [...page.matchAll(/^### (.*)\n[^#]*?```json recipe( worktrees)?\n([^`]*)```/gm)].map(
    ([, title = "", trees, json = ""]) => ({
      title,
      needsTrees: trees !== undefined,
      replies: JSON.parse(json) as readonly (readonly DocCall[])[],
    }),
  );

  const isAlone = ({ input }: DocCall) =>
    input.run_in_background === true || input.subagent_type === "worker";

  it("has five recipes, each of which runs as it stands there", async () => {
    const played = new Map<string, number>();
    expect(recipes).toHaveLength(5);
    const git = (...args: string[]) => execFileSync("git", args, { cwd: world.work, stdio: "pipe" });
    git("init", "-q");
    git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "first");
    await startModel({
      script: (request) => {
        const recipe = recipes.find(({ title }) => title === taskOf(request));
        if (recipe === undefined) return text(`Done: ${taskOf(request)}`);
        const at = played.get(recipe.title) ?? 0;
        const calls = recipe.replies[at];
        if (calls === undefined) return text("Over.");
        const alone = recipe.replies.slice(0, at).flat().filter(isAlone).length;
        // a correction goes to an agent that has ended
        if (calls.some(({ tool }) => tool === "send") && notices(request).length < alone)
          return text("Waiting.");
        played.set(recipe.title, at + 1);
        const isSent = (tool: string) => request.tools.includes(tool);
        return toolUse(
          calls.map(({ tool, input }) => (isSent(tool) ? { name: tool, input } : used(tool, input))),
        );
      },
    });
    for (const { title, needsTrees, replies } of recipes) {
      if (needsTrees && unconfined !== undefined) continue;
      const more = title.includes("coordinator") ? ["--agent", "coordinator"] : [];
      const { code } = await crux("-q", "--permission-mode", "accept_edits", ...more, title);
      expect([title, code]).toEqual([title, 0]);
      const { rawBody } = requestsOf(title).at(-1)!;
      expect(rawBody).not.toMatch(/Error \[/);
      expect(played.get(title)).toBe(replies.length);
      for (const { tool, input } of replies.flat())
        if (tool === "agent") expect(spawned()).toContainEqual(expect.stringContaining(String(input.prompt)));
    }
  });
});

describe("kill -9 of the daemon while agents are waited for", () => {
  it("each child answers its call once, and none is started twice", async () => {
    const gate = Promise.withResolvers<void>();
    let asked = 0;
    await serve({
      lead: (request) =>
        request.assistantTurns === 0
          ? toolUse([childCall("quick"), childCall("slow")])
          : text(
              results(request)
                .map((each) => each.split("\n")[0])
                .join(" and "),
            ),
      quick: () => text("Quick."),
      slow: () => (asked++ === 0 ? text("Lost.").until(gate.promise) : text("Slow.")),
    });
    const pid = Number((await crux("-q", "-d", "lead")).stdout);
    await settled(
      () => (bodies("process.exited").length === 1 ? requestsOf("slow").length : 0),
      (count) => count === 1,
    );
    killDaemon();
    gate.resolve();
    await crux("daemon", "start", "--normal");
    await crux("wait", String(pid));
    expect(spawned()).toEqual(["lead", "quick", "slow"]);
    expect(bodies("process.exited").map(({ result }) => result)).toEqual([
      "Quick.",
      "Slow.",
      "Quick. and Slow.",
    ]);
  });

  it("tells of each child in the background once, whether it ended before or after", async () => {
    const gate = Promise.withResolvers<void>();
    let asked = 0;
    await serve({
      lead: (request) => {
        if (request.assistantTurns === 0) return toolUse([background("quick"), background("slow")]);
        const told = notices(request);
        if (told.length < 2 && asked < 2) return text("Lost.").until(gate.promise);
        return text(told.join("\n") || "Waiting.");
      },
      quick: () => text("Quick."),
      slow: () => (asked++ === 0 ? text("Lost.").until(gate.promise) : text("Slow.")),
    });
    const pid = Number((await crux("-q", "-d", "lead")).stdout);
    const steps = () =>
      bodies("process.exited").length + requestsOf("slow").length + requestsOf("lead").length;
    await settled(steps, (count) => count === 4);
    killDaemon();
    gate.resolve();
    await crux("daemon", "start", "--normal");
    await crux("wait", String(pid));
    expect(spawned().sort()).toEqual(["lead", "quick", "slow"]);
    expect(notices(requestsOf("lead").at(-1)!).sort()).toEqual(
      ["quick", "slow"].map((name) => `<summary>Agent "does ${name}" completed</summary>`),
    );
  });

  it("brings a team back once: members, tasks and messages as they were, and nothing told twice", async () => {
    ownWorld();
    const gate = Promise.withResolvers<void>();
    let asked = 0;
    let done = 0;
    const begun = [
      toolUse(used("team_create", { team_name: "crew" })),
      toolUse(used("task_create", { subject: "One", description: "" })),
      toolUse(childCall("be alice", { name: "alice" })),
    ];
    const ends = [
      toolUse(used("send", { to: "alice", message: "go on" })),
      text("Waiting."),
      toolUse([used("task_list", {}), used("stop", { to: "alice" }), used("team_delete", {})]),
    ];
    await serve({
      lead: (request) => {
        const next = begun[request.assistantTurns];
        if (next !== undefined) return next;
        const rests = told(request).match(/idle_notification/g)?.length ?? 0;
        if (rests === 0) return text("Waiting.");
        if (asked++ === 0) return text("Lost.").until(gate.promise);
        // a note may follow the results
        const step = rests === 1 ? Math.min(done, 1) : Math.max(done, 2);
        done = step + 1;
        return ends[step] ?? text("Over.");
      },
      "be alice": (request) => {
        if (request.assistantTurns === 0)
          return toolUse(used("task_update", { task_id: "1", status: "in_progress" }));
        return text(told(request).includes("go on") ? "More." : "Some.");
      },
    });
    const pid = Number((await crux("-q", "-d", "lead")).stdout);
    await settled(
      () => asked,
      (count) => count === 1,
    );
    killDaemon();
    gate.resolve();
    await crux("daemon", "start", "--normal");
    await crux("wait", String(pid));
    expect(spawned()).toEqual(["lead", "be alice"]);
    expect(bodies("group.join")).toHaveLength(2);
    const last = requestsOf("lead").at(-1)!;
    expect(
      told(last).match(/"idle_notification","name":"alice","reason":"available","summary":"\w+/g),
    ).toEqual([expect.stringMatching(/Some$/), expect.stringMatching(/More$/)]);
    for (const said of [
      /"1 \[in_progress, pid \d+\] One"/,
      /It said last:\\nMore\./,
      /Team crew has ended; its tasks are gone\./,
    ])
      expect(last.rawBody).toMatch(said);
  });
});
