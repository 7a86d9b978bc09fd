import { spawnSync } from "node:child_process";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempFolder } from "../../testing.ts";
import { findLibc } from "../libc.ts";
import { kernelFiles, strayKernelMounts } from "./kernel-files.ts";
import { MountTable } from "./mount-table.ts";

const NAMESPACE = ["--user", "--map-root-user", "--mount", "--"];
const canMount =
  spawnSync("unshare", [...NAMESPACE, "mount", "-t", "tmpfs", "x", "/mnt"]).status === 0 &&
  findLibc() !== undefined;

describe("kernelFiles()", () => {
  it("is what could be written beside the folders of processes", () => {
    const proc = tempFolder();
    for (const name of ["1", "self", "net", "sys", "acpi", "scsi/deep", "tty"])
      mkdirSync(join(proc, name), { recursive: true });
    const file = (name: string, mode: number) => writeFileSync(join(proc, name), "", { mode });
    file("1/mem", 0o600);
    file("net/x", 0o644);
    file("scsi/deep/option", 0o644);
    file("tty/drivers", 0o444);
    file("mtrr", 0o644);
    file("uptime", 0o444);
    const found = kernelFiles(proc).filter((path) => path !== "/sys");
    expect(found).toEqual(["acpi", "mtrr", "scsi", "sys"].map((name) => join(proc, name)));
  });
});

describe("strayKernelMounts()", () => {
  it("finds a /proc, a /sys and devices that are mounted where a chroot has them", () => {
    const mountinfo = [
      "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw",
      "23 22 0:21 / /proc rw,nosuid - proc proc rw",
      "24 22 0:22 / /sys rw - sysfs sysfs rw",
      "25 24 0:23 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw",
      "26 22 0:21 / /srv/old\\040root/proc rw shared:7 master:2 - proc none rw",
      "27 22 0:22 / /srv/chroot/sys rw - sysfs none rw",
      "28 22 0:5 / /srv/chroot/dev rw - devtmpfs udev rw",
      "29 22 0:30 / /srv/data rw - tmpfs tmpfs rw",
      "30 22 0:5 / /process rw - ext4 /dev/vdb rw",
      "",
    ].join("\n");
    expect(strayKernelMounts(mountinfo)).toEqual([
      "/srv/old root/proc",
      "/srv/chroot/sys",
      "/srv/chroot/dev",
    ]);
    expect(strayKernelMounts("")).toEqual([]);
  });
});

describe("MountTable", () => {
  it("read() is the text of the mounts, with and without the C library", () => {
    for (const find of [findLibc, () => undefined]) {
      const table = new MountTable(find);
      for (const text of [table.read(), table.read()]) expect(text).toMatch(/^\d+ \d+ \S+ \S+ \/ /m);
    }
  });

  it.runIf(canMount)("read() sees each mount and each end of one", () => {
    expect(inNamespace("mkdir a b")).toEqual([false, false]);
    expect(inNamespace("mkdir a b; mount -t tmpfs x a")).toEqual([true, false]);
    expect(inNamespace("mkdir a b; mount -t tmpfs x a; mount -t tmpfs y b; umount a")).toEqual([false, true]);
    expect(inNamespace("mkdir a; mount -t tmpfs x a", "() => undefined")).toEqual([true, false]);
  });

  it.runIf(canMount)("read() does not read again without a reported change", () => {
    const unchanged = "() => ({ hasChanged: () => false })";
    expect(inNamespace("mkdir a; mount -t tmpfs x a", unchanged)).toEqual([false, false]);
  });
});

/** Whether the table, once read, shows mounts at `a` and `b` of a folder after the script: in a namespace that ends with it. */
function inNamespace(script: string, find = "findLibc"): boolean[] {
  const program = `
    const { MountTable } = await import(${JSON.stringify(new URL("./mount-table.ts", import.meta.url).href)});
    const { findLibc } = await import(${JSON.stringify(new URL("../libc.ts", import.meta.url).href)});
    const { execFileSync } = await import("node:child_process");
    const table = new MountTable(${find});
    table.read();
    execFileSync("/bin/sh", ["-e", "-c", ${JSON.stringify(script)}]);
    const text = table.read();
    console.log(JSON.stringify(["a", "b"].map((name) => text.includes(process.cwd() + "/" + name + " "))));`;
  const argv = [...NAMESPACE, process.execPath, "--input-type=module", "-e", program];
  const { stdout, stderr } = spawnSync("unshare", argv, {
    cwd: realpathSync(tempFolder()),
    encoding: "utf8",
  });
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as boolean[];
}
