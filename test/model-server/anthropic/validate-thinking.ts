/** What the Messages API refuses about thinking, effort and temperature, by model. */
import { isObject, type JsonObject, objectsOf } from "../json.ts";

const MIN_TOKENS = 1024;
const EFFORTS = ["low", "medium", "high", "xhigh", "max"];

interface Rules {
  readonly model: RegExp;
  readonly types: readonly string[];
  readonly efforts: readonly string[];
  readonly takesTemperature: boolean;
}

/** By the vendor's migration guides; a model that is not listed takes everything. */
const RULES: readonly Rules[] = [
  { model: /opus-5-5/, types: ["adaptive"], efforts: EFFORTS, takesTemperature: false },
  { model: /sonnet-5-5/, types: ["adaptive", "between_tools"], efforts: EFFORTS, takesTemperature: false },
  {
    model: /(haiku-5-5|opus-5$)/,
    types: ["adaptive", "disabled"],
    efforts: EFFORTS,
    takesTemperature: false,
  },
  {
    model: /opus-4-5/,
    types: ["enabled", "disabled"],
    efforts: ["low", "medium", "high"],
    takesTemperature: true,
  },
  {
    model: /(sonnet|haiku)-4-5|opus-4-1|3-7-sonnet/,
    types: ["enabled", "disabled"],
    efforts: [],
    takesTemperature: true,
  },
];

export function* thinkingProblems(body: JsonObject, maxTokens: number): Generator<string> {
  const rules = RULES.find(({ model }) => model.test(String(body.model)));
  yield* effortProblems(body, rules);
  if (body.temperature !== undefined && body.temperature !== 1 && rules?.takesTemperature === false)
    yield "`temperature` is not supported for this model.";
  const { thinking } = body;
  if (thinking === undefined) return;
  const types = ["enabled", "adaptive", "disabled", "between_tools"];
  if (!isObject(thinking) || !types.includes(String(thinking.type))) {
    yield "thinking: Input tag found using 'type' does not match any of the expected tags: 'adaptive', 'between_tools', 'disabled', 'enabled'";
    return;
  }
  if (rules !== undefined && !rules.types.includes(String(thinking.type)))
    yield `"thinking.type.${String(thinking.type)}" is not supported for this model.`;
  if (thinking.type === "disabled" || thinking.type === "between_tools") return;
  if (thinking.type === "enabled") yield* budgetProblems(body, thinking, maxTokens);
  if (body.temperature !== undefined && body.temperature !== 1)
    yield "`temperature` may only be set to 1 when thinking is enabled.";
  const choice = isObject(body.tool_choice) ? body.tool_choice.type : undefined;
  if (choice === "any" || choice === "tool")
    yield "Thinking may not be enabled when tool_choice forces tool use.";
}

function* effortProblems(body: JsonObject, rules: Rules | undefined): Generator<string> {
  const effort = isObject(body.output_config) ? body.output_config.effort : undefined;
  if (effort === undefined) return;
  if (!EFFORTS.includes(String(effort)))
    yield "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'";
  if (rules?.efforts.length === 0) yield "This model does not support the effort parameter.";
  else if (rules !== undefined && !rules.efforts.includes(String(effort)))
    yield `This model does not support effort level '${String(effort)}'.`;
}

function* budgetProblems(body: JsonObject, thinking: JsonObject, maxTokens: number): Generator<string> {
  const budget = thinking.budget_tokens;
  if (typeof budget !== "number") {
    yield "thinking.enabled.budget_tokens: Field required";
    return;
  }
  if (budget < MIN_TOKENS)
    yield `thinking.enabled.budget_tokens: Input should be greater than or equal to ${MIN_TOKENS}`;
  if (budget >= maxTokens) yield "`max_tokens` must be greater than `thinking.budget_tokens`.";
  const messages = objectsOf(body.messages);
  const [reply, answer] = [messages.at(-2), messages.at(-1)];
  if (!objectsOf(answer?.content).some(({ type }) => type === "tool_result")) return;
  const first = String(objectsOf(reply?.content)[0]?.type);
  if (first !== "thinking" && first !== "redacted_thinking")
    yield `messages.${messages.length - 2}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`;
}
