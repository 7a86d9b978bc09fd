import { expect, onTestFinished, test } from "vitest";
import { Bench, textOf } from "../testing/bench.ts";
import { fault } from "../testing/host-files.ts";
import { bash } from "./bash.ts";

function bench(): Bench {
  const made = new Bench([bash]);
  onTestFinished(() => made[Symbol.dispose]());
  return made;
}

test("bash asks the shell with merged output, and declares the command for the policy", async () => {
  const made = bench();
  let asked: unknown;
  made.shell = async (request) => {
    asked = request;
    return { output: "hi\n" };
  };
  expect(await made.text("bash", { command: "echo hi", working_dir: "sub", timeout: "1000" })).toBe("hi\n");
  const cwd = `${made.root}/sub`;
  expect(asked).toEqual({ command: "echo hi", cwd, timeout_ms: 1000, merge: true, progress: true });
  const plan = await made.plan("bash", { command: "echo hi\nrm -r x" });
  expect(plan.effects).toEqual([
    {
      kind: "exec",
      argv: ["bash", "-c", "echo hi\nrm -r x"],
      cwd: made.root,
      certain: false,
      shell: "echo hi\nrm -r x",
    },
  ]);
  expect(plan).toMatchObject({
    effectClass: "once",
    parallel: false,
    view: { operation: "echo hi rm -r x" },
  });
});

test.each([
  [{ exit_code: 2, output: "no\n" }, "no\nExit code 2", { exit: 2 }],
  [{ exit_code: 0, output: "" }, "(no output)", { exit: 0 }],
  [{ exit_code: null, signal: "SIGSEGV", output: "x" }, "x\nEnded by signal SIGSEGV", { signal: "SIGSEGV" }],
])("bash: a command that ran is ok, however it ended: %j", async (answer, text, facts) => {
  const made = bench();
  made.shell = async () => answer;
  const result = await made.call("bash", { command: "x" });
  expect(result.ok).toBe(true);
  expect(textOf(result)).toBe(text);
  expect(made.note).toEqual({ about: "x", facts });
});

test("bash says what its output is not", async () => {
  const made = bench();
  made.shell = async () => ({ output: "a\\x00b", altered: "control characters", exit_code: 1 });
  expect(await made.text("bash", { command: "x" })).toBe("a\\x00b\n[control characters]\nExit code 1");
});

test("bash past its deadline is TIMEOUT with the output so far", async () => {
  const made = bench();
  made.shell = async () => ({ timed_out: true, exit_code: null, signal: "SIGTERM", output: "so far\n" });
  const result = await made.call("bash", { command: "sleep 9", timeout: 1000 });
  expect(result.error).toMatchObject({ code: "TIMEOUT", message: "the command was ended after 1000 ms" });
  expect(made.note).toMatchObject({ about: "sleep 9", error: "the command was ended after 1000 ms" });
  expect(textOf(result)).toMatch(/^so far\nError \[TIMEOUT\]: the command was ended after 1000 ms\n/);
  expect(result.meta).toMatchObject({ output: "so far\n", background: false, shell_id: null, start_time: 1 });
});

test("bash interrupted is CANCELLED with the output so far", async () => {
  const made = bench();
  const stop = new AbortController();
  made.shell = async (_request, signal) => {
    stop.abort();
    expect(signal?.aborted).toBe(true);
    return { interrupted: true, exit_code: null, output: "so far\n" };
  };
  const result = await made.call("bash", { command: "sleep 9" }, stop.signal);
  expect(result).toMatchObject({ error: { code: "CANCELLED" }, meta: { interrupted: true } });
  expect(textOf(result)).toMatch(/^so far\n/);
});

test("bash that does not start is DRIVER", async () => {
  const made = bench();
  made.shell = async () => {
    throw fault("DRIVER", "bash does not start");
  };
  expect((await made.call("bash", { command: "x" })).error).toEqual({
    code: "DRIVER",
    message: "bash does not start",
  });
});

test("bash shows both ends of 31,000 characters, cut at lines, and keeps the whole", async () => {
  const made = bench();
  const output = Array.from({ length: 3100 }, (_, i) => `${String(i).padStart(9, "0")}\n`).join("");
  made.shell = async () => ({ output, total_bytes: output.length, exit_code: 1 });
  const result = await made.call("bash", { command: "x" });
  const text = textOf(result);
  expect(text).toMatch(/^000000000\n/);
  expect(text).toContain("\n000001499\n... [100 lines truncated] ...\n000001600\n");
  expect(text).toMatch(
    /000003099\n\[truncated: 30000 of 31000 characters. All of it: view \/var\/out\/c_81f2, or grep it\]\nExit code 1$/,
  );
  expect(result.truncated).toMatchObject({ total_chars: 31_000, path: "/var/out/c_81f2" });
  expect(made.crux.get("/var/out/c_81f2")?.toString()).toBe(output);
});

test("bash names the shell's own output where that was cut before", async () => {
  const made = bench();
  const output = "x\n".repeat(20_000);
  made.shell = async () => ({
    output,
    total_bytes: 9_000_000,
    truncated: true,
    output_path: "/var/out/c_99",
  });
  const result = await made.call("bash", { command: "x" });
  expect(textOf(result)).toContain(
    "[truncated: 30000 of 9000000 characters. All of it: view /var/out/c_99, or grep it]",
  );
  expect(made.crux.size).toBe(0);
});

test("bash shows a long output whole while it fits, even if the shell kept it", async () => {
  const made = bench();
  const output = "é".repeat(29_999);
  made.shell = async () => ({ output, total_bytes: 59_998, output_path: "/var/out/c_99" });
  const result = await made.call("bash", { command: "x" });
  expect(textOf(result)).toBe(output);
  expect(result).not.toHaveProperty("truncated");
});

test("bash refuses what the shell would", async () => {
  const made = bench();
  await expect(made.plan("bash", { command: "x".repeat(32_769) })).rejects.toMatchObject({ code: "INVALID" });
  await expect(made.plan("bash", { command: "x", timeout: 600_001 })).rejects.toMatchObject({
    message: expect.stringContaining("bash: timeout: "),
  });
});

test("bash: what may become a job, and when", async () => {
  const made = bench();
  let asked: object = {};
  made.shell = async (request) => {
    asked = request;
    return request.job_after_ms === 0 ? { job: "job-3", exit_code: null } : { output: "x" };
  };
  const jobOf = async (args: object) => {
    const result = await made.call("bash", { command: "npm test", ...args });
    const { job_after_ms, at_timeout, auto_job, timeout_ms } = asked as Record<string, unknown>;
    return [textOf(result), job_after_ms, at_timeout, auto_job, timeout_ms];
  };
  expect(await jobOf({})).toEqual(["x", undefined, "job", undefined, 120_000]);
  expect(await jobOf({ timeout: 5 })).toEqual(["x", undefined, undefined, undefined, 5]);
  const started = "Job started in background. ID: job-3";
  expect(await jobOf({ run_in_background: true })).toEqual([started, 0, "job", undefined, 120_000]);
  expect(await jobOf({ run_in_background: true, timeout: 5 })).toEqual([started, 0, undefined, undefined, 5]);
  expect(await jobOf({ command: "sleep 5" })).toEqual(["x", undefined, undefined, undefined, 120_000]);
  const refused = await made.call("bash", { command: " sleep 5 ", run_in_background: true });
  expect(refused.error).toMatchObject({ code: "INVALID" });
  made.caller = { ...made.caller, isSession: true, interactive: true };
  expect(await jobOf({})).toEqual(["x", undefined, "job", true, 120_000]);
});

test("bash warns of rm in its dialog", async () => {
  const warned = async (command: string) =>
    (await bench().plan("bash", { command })).view?.warnings?.length ?? 0;
  expect([
    await warned("rm -rf build"),
    await warned("cd x && /bin/rm y"),
    await warned("npm run farm"),
  ]).toEqual([1, 1, 0]);
});
