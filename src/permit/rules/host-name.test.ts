import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Effect } from "../../abi/effects.ts";
import { allowed, denied, run, subject } from "../contract.ts";
import { makePermit } from "../policy.ts";
import { canonicalHost, isPrivateHost, matchesHost, parseHostName } from "./host-name.ts";

describe("canonicalHost()", () => {
  test.each([
    ["GOOD.com.", "good.com"],
    ["bücher.de", "xn--bcher-kva.de"],
    ["2130706433", "127.0.0.1"],
    ["0x7f.1", "127.0.0.1"],
    ["::1", "::1"],
    ["[::ffff:169.254.169.254]", "::ffff:a9fe:a9fe"],
  ])("of %s is %s", (written, host) => expect(canonicalHost(written)).toBe(host));

  test.each([
    "",
    "a b",
    "good.com%00.evil.io",
    "u@h",
    "h/x",
    "h:80",
    "h\u200b.io",
    "a\\b",
    "*",
    `${"a".repeat(300)}.io`,
  ])("%j is none", (written) => expect(canonicalHost(written)).toBeNull());
});

test.each([
  ...[
    "localhost",
    "a.localhost",
    "127.0.0.1",
    "10.1.2.3",
    "172.31.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "0.0.0.0",
  ],
  ...["100.64.0.1", "::1", "::", "fe80::1", "fd00::1", "::ffff:a9fe:a9fe", "64:ff9b::7f00:1", "224.0.0.1"],
])("isPrivateHost(%s)", (host) => expect(isPrivateHost(host)).toBe(true));

test.each(["h.io", "8.8.8.8", "172.32.0.1", "2001:db8::1", "localhost.evil.io", "127.0.0.1.evil.io"])(
  "isPrivateHost(%s) is false",
  (host) => expect(isPrivateHost(host)).toBe(false),
);

test("matchesHost() takes whole labels, and `*.h` not h itself", () => {
  const label = fc.stringMatching(/^[a-z]{1,6}$/);
  fc.assert(
    fc.property(label, label, label, (a, b, c) => {
      const [exact, below] = [parseHostName(`${b}.${c}`), parseHostName(`*.${b}.${c}`)];
      if (exact === null || below === null) throw new Error("not a host");
      expect([matchesHost(exact, `${b}.${c}`), matchesHost(below, `${b}.${c}`)]).toEqual([true, false]);
      expect([matchesHost(exact, `${a}.${b}.${c}`), matchesHost(below, `${a}.${b}.${c}`)]).toEqual([
        false,
        true,
      ]);
      expect([matchesHost(exact, `${a}${b}.${c}`), matchesHost(below, `${a}${b}.${c}`)]).toEqual([
        false,
        false,
      ]);
      expect(matchesHost(below, `${a}.${b}.${c}.evil`)).toBe(false);
    }),
  );
});

describe("a network effect", () => {
  const decide = (host: string, rules: Parameters<typeof makePermit>[0]["rules"]) =>
    run(
      makePermit({
        rules,
        defaultMode: "default",
        additionalDirectories: [],
        home: "/home/u",
        kernelPaths: [],
        realPath: (path) => path,
      }),
      "fetch",
      [{ kind: "network", host, port: 443, method: "GET" } satisfies Effect],
      subject({ mode: "bypass" }),
    );

  test("to this machine or its network is denied but to a rule that names the very host", () => {
    for (const host of ["localhost", "2130706433", "[::ffff:169.254.169.254]", "192.168.0.7"])
      expect(decide(host, [allowed("fetch"), allowed("fetch(domain:*.localhost)")]).behavior, host).toBe(
        "deny",
      );
    expect(decide("localhost", [allowed("fetch(domain:localhost)")]).behavior).toBe("allow");
    expect(decide("127.1", [allowed("fetch(domain:127.0.0.1)")]).behavior).toBe("allow");
    expect(
      decide("127.1", [allowed("fetch(domain:127.0.0.1)"), denied("fetch(domain:127.0.0.1)")]).behavior,
    ).toBe("deny");
  });

  test("to what is no host is INVALID", () => {
    expect(decide("good.com@evil.io", [])).toMatchObject({ behavior: "deny", code: "INVALID" });
  });
});
