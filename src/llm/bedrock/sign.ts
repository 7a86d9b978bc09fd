/**
 * Signs requests to Amazon Web Services by version 4
 * (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html). Pure.
 */
import { createHash, createHmac } from "node:crypto";

export interface AwsKeys {
  readonly id: string;
  readonly secret: string;
  /** Of temporary credentials; "": they last. */
  readonly session: string;
}

interface Unsigned {
  readonly method: "GET" | "POST";
  readonly url: URL;
  readonly body: string;
}

interface Scope {
  readonly keys: AwsKeys;
  readonly region: string;
  readonly service: string;
  readonly atMs: number;
}

/** The headers to add to a request. */
export function signed({ method, url, body }: Unsigned, scope: Scope): Record<string, string> {
  const { keys, region, service, atMs } = scope;
  const time = new Date(atMs).toISOString().replace(/[-:]|\.\d+/g, "");
  const date = time.slice(0, 8);
  const own = {
    "x-amz-date": time,
    ...(keys.session === "" ? {} : { "x-amz-security-token": keys.session }),
  };
  const headers = Object.entries({ host: url.host, ...own });
  const names = headers.map(([name]) => name).join(";");
  const canonical = [
    method,
    url.pathname.split("/").map(escaped).join("/"),
    [...url.searchParams]
      .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
      .sort()
      .join("&"),
    ...headers.map(([name, value]) => `${name}:${value}`),
    "",
    names,
    digest(body),
  ].join("\n");
  const place = `${date}/${region}/${service}/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", time, place, digest(canonical)].join("\n");
  const key = [date, region, service, "aws4_request"].reduce<string | Buffer>(mac, `AWS4${keys.secret}`);
  const signature = mac(key, text).toString("hex");
  const authorization = `AWS4-HMAC-SHA256 Credential=${keys.id}/${place}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...own, authorization };
}

function mac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** As AWS spells it. A segment of a path is escaped a second time: it stands in the URL in its escaped form. */
function escaped(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
