import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RedactedBytes } from "./bytes.ts";
import { DROPPED, hasMark, Redactor } from "./redact.ts";
import { RedactStream } from "./stream.ts";

const KEY = new Uint8Array(32).fill(7);
const VALUE = 'pa"ss\\wörd-4711';
const PEM = `-----BEGIN RSA PRIVATE KEY-----\n${"MIIEpAIBAAKCAQEA7bq+/0kZ\n".repeat(40)}-----END RSA PRIVATE KEY-----`;
const MARK = /\[redacted:([a-z]+):[0-9a-f]{6}\]/g;

function made(...values: string[]): Redactor {
  const redactor = new Redactor(KEY);
  redactor.learn([VALUE, ...values]);
  return redactor;
}

const kinds = (text: string): readonly string[] => [...text.matchAll(MARK)].map(([, kind = ""]) => kind);

const LOOKS: readonly (readonly [kind: string, secret: string])[] = [
  ["pem", PEM],
  ["pem", JSON.stringify(PEM).slice(1, -1)],
  ["sk", "sk-ant-api03-AbCdEf0123456789_xyz"],
  ["github", `ghp_${"a1B2".repeat(9)}`],
  ["github", `github_pat_${"a1B2_".repeat(9)}`],
  ["aws", "AKIAIOSFODNN7EXAMPLE"],
  ["slack", "xoxb-123456789012-abcdefABCDEF"],
  ["jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9"],
  ["token", `cap_17_${"aZ-_0".repeat(9).slice(0, 43)}`],
  ["bearer", "Bearer abcdef0123456789-_.~"],
];

describe("Redactor", () => {
  it.each(LOOKS)("redact() puts a mark in the place of what looks like a secret: %s", (kind, secret) => {
    const clean = made().redact(`before "${secret}" after`);
    expect(clean).toMatch(new RegExp(`^before "\\[redacted:${kind}:[0-9a-f]{6}\\]" after$`));
  });

  it.each(LOOKS)("mayBegin() sees it wherever it stands: %s", (_, secret) => {
    const redactor = new Redactor(KEY);
    const isSeen = (text: string, from: number) => redactor.mayBegin(Buffer.from(text).subarray(from));
    for (let before = 0; before < 20; before++) {
      const text = `${" ".repeat(before)}${secret.slice(0, 24)}`;
      // from an even and from an odd place in memory
      for (const from of [0, 1]) expect(isSeen(`${" ".repeat(from)}${text}`, from)).toBe(true);
    }
    expect(isSeen("nothing of this is one: reread, task-1, cap_x, http:/x, eyj", 0)).toBe(false);
  });

  it("redact() takes the password out of a URL, and leaves the host", () => {
    expect(made().redact("postgres://joe:hunter2secret@db.local/x")).toMatch(
      /^postgres:\/\/\[redacted:url:[0-9a-f]{6}\]@db\.local\/x$/,
    );
  });

  it("redact() finds a known value as it is, in JSON, base64 at each place, URLs and hex, under one mark", () => {
    const bytes = Buffer.from(VALUE);
    const forms = [
      VALUE,
      JSON.stringify({ a: VALUE }),
      ...["", "x", "xy"].map((lead) => Buffer.from(`${lead}${VALUE}tail`).toString("base64")),
      Buffer.from(`x${VALUE}`).toString("base64url"),
      encodeURIComponent(VALUE),
      bytes.toString("hex"),
      bytes.toString("hex").toUpperCase(),
    ];
    const marks = forms.map((form) => made().redact(`<${form}>`).match(MARK) ?? []);
    expect(marks.map(({ length }) => length)).toEqual(forms.map(() => 1));
    expect(new Set(marks.flat()).size).toBe(1);
  });

  it("redact() leaves what is no secret, as the same string", () => {
    const text =
      "sk-circle-fade-dot bearer authentication-scheme https://a.io/b?c=d@e ghp_short task-management-list-of-items";
    expect(made().redact(text)).toBe(text);
  });

  it("redact() leaves its own marks, so that twice is once", () => {
    for (const [, secret] of LOOKS) {
      const once = made().redact(`a ${secret} ${VALUE} https://u:pw4pw4@h/`);
      expect(made().redact(once)).toBe(once);
      expect(hasMark(once)).toBe(true);
    }
  });

  it("redact() of a text in JSON is the JSON of the redacted text", () => {
    for (const [, secret] of LOOKS) {
      const text = `a\n${secret}\tb ${VALUE}`;
      const redactor = made();
      expect(redactor.redact(JSON.stringify(text))).toBe(JSON.stringify(redactor.redact(text)));
    }
  });

  it("redact() leaves a secret whose mark is excepted", () => {
    const redactor = made();
    const [mark = ""] = redactor.redact(VALUE).match(MARK) ?? [];
    expect(kinds(redactor.redact(`${VALUE} AKIAIOSFODNN7EXAMPLE`, new Set([mark])))).toEqual(["aws"]);
  });

  it("redact() covers all of a known value that begins inside of what only looks like one", () => {
    const redactor = made("9999-secret tail with blanks");
    expect(redactor.redact("x Bearer abcdef012345679999-secret tail with blanks.")).toMatch(
      /^x \[redacted:bearer:[0-9a-f]{6}\]\.$/,
    );
  });

  it("learn() takes no word for a secret, and forgets the oldest beyond a thousand", () => {
    const redactor = new Redactor(KEY);
    redactor.learn(["short", "the-first-value"]);
    redactor.learn(Array.from({ length: 1_000 }, (_, i) => `value-number-${i}-0x`));
    expect(redactor.redact("short the-first-value")).toBe("short the-first-value");
    expect(kinds(redactor.redact("value-number-999-0x value-number-0-0x"))).toEqual(["known", "known"]);
  });

  it("redact() knows a value that is longer than it looks at in one", () => {
    const long = Array.from({ length: 200 }, (_, i) => `part${i}`).join("/");
    const clean = made(long).redact(`a ${long} b`);
    expect(clean).not.toMatch(/part1\d/);
    expect(clean.startsWith("a [redacted:known:")).toBe(true);
  });

  it("redactBytes() gives the same bytes where there is nothing, also where they are no text", () => {
    const bytes = Uint8Array.from([0xff, 0xfe, 0, 1, 2]);
    expect(made().redactBytes(bytes)).toBe(bytes);
    expect(Buffer.from(made().redactBytes(Buffer.from(`ä${VALUE}`))).toString()).toMatch(
      /^ä\[redacted:known:/,
    );
  });

  it("redact() drops a text that it cannot look through", () => {
    const broken = new Redactor(KEY);
    broken.scan = () => {
      throw new Error("a fault");
    };
    expect(broken.redact("anything")).toBe(DROPPED);
    const stream = new RedactStream(broken);
    expect(`${stream.push("a".repeat(5_000))}${stream.end()}`).toBe(DROPPED);
  });

  it("redact() takes a time that grows with the text, not with its square", () => {
    const text =
      "AKIAIOSFODNN7EXAMPLE ".repeat(20_000) +
      "eyJ".repeat(50_000) +
      "-----BEGIN PRIVATE KEY-----".repeat(5_000);
    expect(kinds(made().redact(text)).length).toBeGreaterThanOrEqual(20_000);
  });
});

const piece = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 40 }) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 9_000 }).map((n) => "lorem ipsum ".repeat(n / 12)) },
  { weight: 3, arbitrary: fc.constantFrom(...LOOKS.map(([, secret]) => secret)) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(VALUE, Buffer.from(`y${VALUE}`).toString("base64"), encodeURIComponent(VALUE)),
  },
  { weight: 1, arbitrary: fc.constantFrom("Bearer ", "sk-", "-----BEGIN", "eyJ", "://u:", "@h", "ghp_") },
  { weight: 1, arbitrary: fc.constant(`sk-${"0aB".repeat(300)}`) },
);

describe("RedactStream", () => {
  it("gives what redact() of the whole gives, however the text is cut", () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 6_000 }), { minLength: 1, maxLength: 30 }),
        (pieces, sizes) => {
          const text = pieces.join("");
          const redactor = made();
          const stream = new RedactStream(redactor);
          const out: string[] = [];
          for (let at = 0, n = 0; at < text.length; n++) {
            const size = sizes[n % sizes.length] ?? 1;
            out.push(stream.push(text.slice(at, at + size)));
            at += size;
          }
          expect(out.join("") + stream.end()).toBe(redactor.redact(text));
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each([
    ["jwt", `eyJhbGciOiJSUzI1NiJ9.eyJ${"zdWIiOiIx".repeat(2_000)}.${"dozjgNry".repeat(60)}`],
    ["jwt", `eyJ${"hbGciOiJ".repeat(120)}.eyJ${"zdWIiOiIx".repeat(5_000)}.${"dozjgNry".repeat(200)}`],
    ["pem", PEM.replace(/(?<=-\n)/, "MIIEpAIBAAKCAQEA7bq+/0kZ\n".repeat(1_500))],
    ["bearer", `Bearer ${"aB3_".repeat(9_000)}`],
  ])("sees a %s that is longer than what it holds back, in chunks of any size", (kind, secret) => {
    const text = `${"x ".repeat(3_000)}token: ${secret}\n${"y ".repeat(3_000)}`;
    for (const size of [97, 1_024, 4_095, 4_096, 4_097, 9_000])
      for (const isLive of [false, true]) {
        const stream = new RedactStream(made());
        const out: string[] = [];
        for (let at = 0; at < text.length; at += size)
          out.push(stream.push(text.slice(at, at + size), isLive));
        expect(kinds(out.join("") + stream.end()), `${size} ${isLive}`).toEqual([kind]);
      }
  });

  it("holds back a bounded part of a secret that does not end", () => {
    const endless = ["eyJhbGciOi.eyJzdWIi", "-----BEGIN PRIVATE KEY-----\n", "Bearer 1", "sk-1"];
    for (const begun of endless) {
      const stream = new RedactStream(made());
      stream.push(begun);
      let most = 0;
      for (let n = 0; n < 60; n++) {
        stream.push("a".repeat(4_096));
        most = Math.max(most, stream.held.length);
      }
      expect(most, begun).toBeLessThan(70_000);
    }
  });

  it("holds back no more than 4 KiB of what is no secret", () => {
    const stream = new RedactStream(made());
    expect(stream.push("x ".repeat(5_000)).length).toBe(10_000 - 4_096);
  });
});

describe("RedactedBytes", () => {
  it("gives what redact() of the whole gives, in large chunks and small ones, wherever they are cut", () => {
    const long = fc.integer({ min: 1, max: 9_000 }).map((n) => "lorem ipsüm\n".repeat(n / 12 + 1));
    fc.assert(
      fc.property(
        fc.array(fc.oneof(piece, long), { maxLength: 12 }),
        fc.array(fc.integer({ min: 4_200, max: 9_000 }), { minLength: 1, maxLength: 30 }),
        (pieces, sizes) => {
          const bytes = Buffer.from(pieces.join(""));
          const out = new RedactedBytes(made());
          const given: Uint8Array[] = [];
          for (let at = 0, n = 0; at < bytes.length; n++) {
            const size = sizes[n % sizes.length] ?? 1;
            given.push(...out.parts(bytes.subarray(at, at + size)));
            at += size;
          }
          expect(Buffer.concat([...given, out.end()]).toString()).toBe(made().redact(bytes.toString()));
        },
      ),
      { numRuns: 200 },
    );
  });

  it.each([...LOOKS, ["known", VALUE] as const])(
    "sees a %s, however two large chunks cut it: %s",
    (_kind, secret) => {
      const before = Buffer.from(`${"x ".repeat(3_000)}`);
      const whole = Buffer.concat([before, Buffer.from(`${secret} ${"y ".repeat(3_000)}`)]);
      for (let cut = 0; cut <= Math.min(40, secret.length); cut++) {
        const out = new RedactedBytes(made());
        const at = before.length + cut;
        const given = [...out.parts(whole.subarray(0, at)), ...out.parts(whole.subarray(at)), out.end()];
        expect(Buffer.concat(given).toString()).toBe(made().redact(whole.toString()));
      }
    },
  );

  it.each(["pàssword", "ö".repeat(480)])(
    "sees the password of a URL, whatever its characters: %s",
    (password) => {
      const text = `postgres://joe:${password}@db.local/x`;
      const out = new RedactedBytes(made());
      const clean = Buffer.concat([out.push(Buffer.from(text)), out.end()]).toString();
      expect(clean).toBe(made().redact(text));
      expect(kinds(clean)).toEqual(["url"]);
    },
  );

  it("passes bytes that are no text and have no secret, as they are", () => {
    const bytes = Buffer.from(Array.from({ length: 20_000 }, (_, n) => (n * 167) & 0xff));
    const out = new RedactedBytes(made());
    const given = [out.push(bytes.subarray(0, 9_000)), out.push(bytes.subarray(9_000)), out.end()];
    expect(Buffer.concat(given).equals(bytes)).toBe(true);
  });

  it("redacts bytes whose characters are cut", () => {
    const bytes = Buffer.from(`äöü-äöü-${VALUE}€ ende`);
    const out = new RedactedBytes(made());
    const parts = [bytes.subarray(0, 15), bytes.subarray(15, 25), bytes.subarray(25)].map((part) =>
      out.push(part),
    );
    expect(Buffer.concat([...parts, out.end()]).toString()).toBe(made().redact(bytes.toString()));
  });

  it.each([...LOOKS, ["known", VALUE] as const, ["url", "s://joe:hunter2secret@h/x"] as const])(
    "sees a %s in small chunks, wherever they are cut",
    (_kind, secret) => {
      const text = `a ${secret}\nb`;
      const redactor = made();
      const clean = redactor.redact(text);
      for (let cut = 2; cut < Math.min(60, text.length); cut++) {
        const out = new RedactedBytes(redactor);
        const given = [text.slice(0, cut), text.slice(cut)].map((part) => out.push(Buffer.from(part)));
        expect(Buffer.concat([...given, out.end()]).toString(), text.slice(0, cut)).toBe(clean);
      }
      const out = new RedactedBytes(redactor);
      const given = Array.from(Buffer.from(text), (byte) => out.push(Buffer.of(byte)));
      expect(Buffer.concat([...given, out.end()]).toString()).toBe(clean);
    },
  );

  it("gives out a line when it is over, and what is too short for a secret", () => {
    const out = new RedactedBytes(made());
    const said = (text: string) => Buffer.from(out.push(Buffer.from(text))).toString();
    expect([said("ready> "), said("sk-abcdefgh"), said("ij0123456789\nnext")]).toEqual([
      "ready> ",
      "",
      expect.stringMatching(/^\[redacted:sk:[0-9a-f]{6}\]\nnext$/),
    ]);
  });
});
