import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Caller } from "../../abi/device.ts";
import { asPid } from "../../abi/ids.ts";
import type { ShellAnswer } from "../../abi/ops/fs.ts";
import { deviceContract } from "../contract.ts";
import { HostProcesses } from "../host/exec.ts";
import { hasProcfs } from "../host/procfs.ts";
import { naming, newTag } from "../host/testing.ts";
import { OutputStore } from "../out/output-store.ts";
import { actOf, ask, askJson, callerIn, readAll, tempFolder, until, uuidA } from "../testing.ts";
import { shellDevice } from "./device.ts";
import { commandEnvironment } from "./environment.ts";

const pipesDir = join(tmpdir(), `crux-shell-${process.pid}`);
const exec = new HostProcesses({ kernelId: "k-shell", epoch: 1, pipesDir });
afterAll(() => exec.close());

const socketPath = "/run/user/1/crux/crux.sock";

function shell(fields: Partial<Caller> = {}) {
  const root = tempFolder();
  const cwd = join(root, "work");
  mkdirSync(cwd);
  const outputs = new OutputStore(join(root, "outputs"));
  return {
    device: shellDevice({ exec, outputs, socketOf: () => socketPath }),
    caller: callerIn(cwd, fields),
    cwd,
    kept: (name: string) => readFileSync(join(root, "outputs", uuidA, name)),
  };
}

function run(request: string | object, fields?: Partial<Caller>): Promise<ShellAnswer> {
  const { device, caller } = shell(fields);
  return askJson(device, "", typeof request === "string" ? { command: request } : request, caller);
}

deviceContract("/dev/shell", async () => {
  const { device, caller } = shell();
  return {
    device,
    caller,
    request: { subpath: "", bytes: "echo hello" },
    refused: [
      { subpath: "/x", flags: 2, code: "NOT_FOUND" },
      { subpath: "", flags: 0, code: "INVALID" },
      { subpath: "", flags: 1, code: "INVALID" },
    ],
  };
});

describe("/dev/shell, the text form", () => {
  const text = async (command: string) => {
    const { device, caller } = shell();
    return String(await ask(device, "", command, caller));
  };

  it("is what was printed, in order of arrival, and the status if it is not 0", async () => {
    expect(await text("for i in 1 2 3; do echo out $i; echo err $i >&2; done")).toBe(
      "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n",
    );
    expect(await text("true")).toBe("");
    expect(await text("printf x; exit 3")).toBe("x\nexit status 3\n");
    expect(await text("kill -9 $$")).toBe("exit status 137\n");
  });

  it("braces that are no JSON are bash's", async () => {
    expect(await text("{ echo a; }")).toBe("a\n");
  });

  it("bash speaks of itself as bash", async () => {
    expect(await text("no-such-program")).toBe(
      "bash: line 1: no-such-program: command not found\nexit status 127\n",
    );
  });
});

describe("/dev/shell, the JSON form", () => {
  it("tells streams apart, or merges them", async () => {
    const command = "echo out; echo err >&2; exit 2";
    expect(await run(command)).toEqual({
      exit_code: 2,
      signal: null,
      timed_out: false,
      interrupted: false,
      stdout: "out\n",
      stderr: "err\n",
      output: "",
      truncated: false,
      total_bytes: 8,
      output_path: null,
      duration_ms: expect.any(Number),
      job: null,
    });
    expect(await run({ command, merge: true })).toMatchObject({
      output: "out\nerr\n",
      stdout: "",
      stderr: "",
    });
  });

  it("runs in cwd, below the caller's when relative; a missing one is NOT_FOUND", async () => {
    const { device, caller, cwd } = shell();
    mkdirSync(join(cwd, "sub"));
    const pwd = await askJson<ShellAnswer>(device, "", { command: "pwd", cwd: "sub" }, caller);
    expect(pwd.stdout).toBe(`${cwd}/sub\n`);
    await expect(ask(device, "", { command: "pwd", cwd: "none" }, caller)).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });

  it("what it prints is plain text, as a terminal would show it, and says what it cannot be", async () => {
    const answer = await run("printf '\\033[31m10%%\\r100%%\\033[0m\\n'; printf 'a\\0b\\n' >&2");
    expect(answer).toMatchObject({ stdout: "100%\n", stderr: "a\\x00b\n", total_bytes: 12 });
    expect(answer.altered).toBe("control characters are shown by their number, such as \\x00: 1 of them");
    expect(await run("echo plain")).not.toHaveProperty("altered");
  });

  it("stdin is empty, and no start-up file is read", async () => {
    expect((await run("cat; shopt -q login_shell || echo no login")).stdout).toBe("no login\n");
  });

  it("what is no command is INVALID", async () => {
    const tooLong = `echo ${"x".repeat(32_768)}`;
    for (const request of [
      "",
      " \n",
      "a\0b",
      tooLong,
      "{}",
      '{"command":"ls","x":1}',
      '{"command":"ls","cwd":1}',
    ]) {
      const { device, caller } = shell();
      const file = await device.open("", 2, caller);
      const bytes = Buffer.from(request);
      expect(() => file.plan?.(bytes)).toThrow(expect.objectContaining({ code: "INVALID" }));
      await expect(file.write(bytes, actOf())).rejects.toMatchObject({ code: "INVALID" });
      await file.close();
    }
  });

  it("plan() is one exec of bash text, once, under the name bash", async () => {
    const { device, caller, cwd } = shell();
    const file = await device.open("", 2, caller);
    const plan = await file.plan?.(Buffer.from('{"command":"rm -r x","cwd":"sub"}'));
    expect(plan).toMatchObject({ effectClass: "once", tool: "bash" });
    expect(plan?.effects).toEqual([
      {
        kind: "exec",
        argv: ["bash", "-c", "rm -r x"],
        cwd: join(cwd, "sub"),
        certain: false,
        shell: "rm -r x",
      },
    ]);
    await file.close();
  });
});

describe("/dev/shell environment", () => {
  it("plan() declares the variables of the request with its command", async () => {
    const { device, caller, cwd } = shell();
    const file = await device.open("", 2, caller);
    const request = { command: "git status", env: { HOME: "/x", A: "it's" } };
    const text = "export HOME=/x\nexport A='it'\\''s'\ngit status";
    expect((await file.plan?.(Buffer.from(JSON.stringify(request))))?.effects).toEqual([
      { kind: "exec", argv: ["bash", "-c", text], cwd, certain: false, shell: text },
    ]);
    await file.close();
  });

  it("has no secrets, nothing that injects, and says where the command runs", async () => {
    const secrets = {
      ANTHROPIC_API_KEY: "k",
      MY_TOKEN: "t",
      DB_PASSWORD: "p",
      AWS_REGION: "r",
      GH_HOST: "h",
    };
    const injecting = {
      BASH_ENV: "/x",
      LD_PRELOAD: "/x.so",
      "BASH_FUNC_ls%%": "() { echo hijacked; }",
      CRUX_X: "1",
    };
    const kept = { KEPT: "yes", CRUX_REPLICA: "2" };
    const env = { PATH: `.:/tmp:${process.env.PATH}`, TERM: "xterm", ...kept, ...secrets, ...injecting };
    const { stdout } = await run("env; ls -d / ", { env });
    const seen = Object.fromEntries(stdout.split("\n").map((line) => line.split(/=(.*)/s).slice(0, 2)));
    expect(seen).toMatchObject({
      ...kept,
      TERM: "dumb",
      NO_COLOR: "1",
      PAGER: "cat",
      GIT_PAGER: "cat",
      GIT_TERMINAL_PROMPT: "0",
      CRUX_PID: "7",
      CRUX_SESSION_ID: uuidA,
      CRUX_IPC_SOCKET: socketPath,
      KAIRO_IPC_SOCKET: socketPath,
    });
    for (const name of Object.keys({ ...secrets, ...injecting })) expect(seen).not.toHaveProperty([name]);
    expect(seen.PATH?.split(":")).not.toContain(".");
    expect(seen.PATH?.split(":")).not.toContain("/tmp");
    expect(stdout).not.toContain("hijacked");
  });

  it("has what a person has given to its program, and still nothing that injects", async () => {
    const caller = { pid: asPid(7), uuid: uuidA, env: { GH_TOKEN: "t", GH_HOST: "h", LD_PRELOAD: "/x.so" } };
    const seen = commandEnvironment(caller, {}, socketPath, (name) => name !== "GH_HOST");
    expect(seen.GH_TOKEN).toBe("t");
    expect(Object.keys(seen)).not.toContain("GH_HOST");
    expect(Object.keys(seen)).not.toContain("LD_PRELOAD");
  });

  it("a request sets variables, but not those that inject", async () => {
    expect((await run({ command: "echo $GREETING", env: { GREETING: "hi" } })).stdout).toBe("hi\n");
    for (const name of ["PATH", "LD_PRELOAD", "BASH_ENV", "CRUX_PID", "A=B", ""])
      await expect(run({ command: "true", env: { [name]: "x" } }), name).rejects.toMatchObject({
        code: "INVALID",
      });
  });
});

describe("/dev/shell output", () => {
  it("over 64 KiB lies in a file as well, complete and in order", async () => {
    const { device, caller, kept } = shell();
    const request = { command: "seq 1 20000", merge: true };
    const answer = await askJson<ShellAnswer>(device, "", request, caller);
    const whole = Array.from({ length: 20_000 }, (_, i) => `${i + 1}\n`).join("");
    expect(answer).toMatchObject({
      truncated: false,
      total_bytes: whole.length,
      output_path: "/var/out/c_81f2",
    });
    expect(answer.output).toBe(whole);
    expect(String(kept("c_81f2"))).toBe(whole);
  });

  it("over 2 MiB is its first and last MiB; the file has all", async () => {
    const { device, caller, kept } = shell();
    const request = { command: "yes 0123456789abcde | head -c 5000000", merge: true };
    const answer = await askJson<ShellAnswer>(device, "", request, caller);
    const mib = 1024 * 1024;
    expect(answer).toMatchObject({ truncated: true, total_bytes: 5_000_000 });
    expect(answer.output.length).toBe(2 * mib + `\n... [${5_000_000 - 2 * mib} bytes left out] ...\n`.length);
    expect(kept("c_81f2").byteLength).toBe(5_000_000);
  });

  it("text form names the file of what was cut", async () => {
    const { device, caller } = shell();
    const text = String(await ask(device, "", "yes | head -c 3000000", caller));
    expect(text.endsWith("\n[cut: 3000000 bytes in all; the whole: /var/out/c_81f2]\n")).toBe(true);
  });
});

describe("/dev/shell ends", () => {
  it("at the deadline: the group is gone, and the answer says timed_out", async () => {
    const answer = await run({ command: "echo begun; sleep 60 & sleep 60", timeout_ms: 150 });
    expect(answer).toMatchObject({ timed_out: true, interrupted: false, exit_code: null, signal: "SIGTERM" });
    expect(answer.stdout).toBe("begun\n");
    expect(exec.live).toBe(0);
  });

  it("by an abort: CANCELLED, and what was printed may still be read", async () => {
    const { device, caller, cwd } = shell();
    const stop = new AbortController();
    const file = await device.open("", 2, caller);
    const request = { command: "echo begun; touch ready; sleep 60" };
    const write = file.write(Buffer.from(JSON.stringify(request)), actOf(stop.signal));
    await until(() => existsSync(join(cwd, "ready")), "the command runs");
    stop.abort();
    await expect(write).rejects.toMatchObject({ code: "CANCELLED" });
    expect(JSON.parse(String(await readAll(file)))).toMatchObject({ interrupted: true, stdout: "begun\n" });
    await file.close();
    expect(exec.live).toBe(0);
  });

  it("with close() or with its process", async () => {
    const end = new AbortController();
    const { device, caller, cwd } = shell({ signal: end.signal });
    for (const stop of [(file: { close(): Promise<void> }) => file.close(), async () => end.abort()]) {
      const file = await device.open("", 2, caller);
      const mark = `ready${Math.random()}`;
      const write = file.write(Buffer.from(`touch ${mark}; sleep 60`), actOf());
      const failed = expect(write).rejects.toMatchObject({ code: "CANCELLED" });
      await until(() => existsSync(join(cwd, mark)), "the command runs");
      await stop(file);
      await failed;
      await file.close();
      expect(exec.live).toBe(0);
    }
  });

  it.runIf(hasProcfs)("leaving no process behind, not even one in a session of its own", async () => {
    const tag = newTag();
    const script = `setsid bash -c 'exec -a ${tag} sleep 61' >/dev/null 2>&1 & (exec -a ${tag} sleep 62) &
      while [ "$(grep -lsz ^${tag} /proc/[0-9]*/cmdline | wc -l)" != 2 ]; do sleep 0.01; done; echo both`;
    expect((await run(script)).stdout).toBe("both\n");
    expect(naming(tag)).toEqual([]);
  });

  it("a read waits for the command; a second command meanwhile is a CONFLICT", async () => {
    const { device, caller, cwd } = shell();
    const file = await device.open("", 2, caller);
    const write = file.write(Buffer.from("while [ ! -e go ]; do sleep 0.01; done; echo went"), actOf());
    const read = file.read(100, new AbortController().signal);
    await expect(file.write(Buffer.from("true"), actOf())).rejects.toMatchObject({ code: "CONFLICT" });
    const stop = new AbortController();
    const stopped = file.read(100, stop.signal);
    stop.abort();
    await expect(stopped).rejects.toMatchObject({ code: "CANCELLED" });
    mkdirSync(join(cwd, "go"));
    expect(String(await read)).toBe("went\n");
    await write;
    await file.close();
  });
});
