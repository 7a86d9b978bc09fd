/**
 * The tools of one connection, with validated names, descriptions and sizes. A server's list is foreign text; a tool
 * that does not fit is dropped and reported, never changed to fit.
 */
import { MCP_LIMITS } from "./limits.ts";

export interface McpTool {
  /** The server's name for the tool. */
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  /** Claims of the server: used for order and display; they never avoid a permission question. */
  readonly annotations?: Readonly<Record<string, unknown>>;
}

export interface Catalogue {
  readonly tools: readonly McpTool[];
  /** Why tools were dropped, one line each. */
  readonly dropped: readonly string[];
}

/** Builds the catalogue from the items on the pages of `tools/list`. */
export function catalogueOf(listed: readonly unknown[]): Catalogue {
  const tools = new Map<string, McpTool>();
  const dropped: string[] = [];
  let bytes = 0;
  for (const item of listed) {
    const tool = readTool(item);
    if (typeof tool === "string") {
      dropped.push(tool);
      continue;
    }
    bytes += JSON.stringify(tool).length;
    if (tools.has(tool.name)) dropped.push(`tool ${tool.name} is listed twice`);
    else if (tools.size >= MCP_LIMITS.tools || bytes > MCP_LIMITS.listBytes) {
      dropped.push(`tool ${tool.name} and what follows: there are more tools than fit (${tools.size})`);
      break;
    } else tools.set(tool.name, tool);
  }
  return { tools: [...tools.values()], dropped };
}

/** An item of a list in the place of one that is nested so deeply that nothing can walk it; it keeps the name. */
export class TooDeep {
  readonly name: unknown;
  constructor(item: unknown) {
    this.name = isRecord(item) ? item.name : undefined;
  }
}

export function isDeep(value: unknown, levels: number = MCP_LIMITS.levels): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeep(each, levels - 1));
}

/** The tool, or the reason why the item is not a valid one. */
function readTool(item: unknown): McpTool | string {
  if (!isRecord(item) || typeof item.name !== "string") return "a tool without a name";
  const { name, title, description, inputSchema, outputSchema, annotations } = item;
  const shown = JSON.stringify(name.slice(0, 80));
  if (!/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,128}$/u.test(name)) return `tool ${shown}: not a name`;
  if (item instanceof TooDeep) return `tool ${shown}: it has more than ${MCP_LIMITS.levels} levels`;
  if (!isRecord(inputSchema)) return `tool ${shown}: its schema is not an object`;
  if (inputSchema.type !== undefined && inputSchema.type !== "object")
    return `tool ${shown}: its arguments are not an object`;
  for (const schema of [inputSchema, outputSchema])
    if (schema !== undefined && JSON.stringify(schema).length > MCP_LIMITS.schemaBytes)
      return `tool ${shown}: its schema is larger than ${MCP_LIMITS.schemaBytes} bytes`;
  return {
    name,
    ...(typeof title === "string" && { title: title.slice(0, 200) }),
    description: describe(description),
    inputSchema,
    ...(isRecord(outputSchema) && { outputSchema }),
    ...(isRecord(annotations) && { annotations }),
  };
}

function describe(description: unknown): string {
  const text = typeof description === "string" ? description : "";
  const max = MCP_LIMITS.descriptionChars;
  return text.length <= max ? text : `${text.slice(0, max - 1).toWellFormed()}…`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
