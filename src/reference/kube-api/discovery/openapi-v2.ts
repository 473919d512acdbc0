import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { Exchange } from '../exchange.ts';

const asked = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
/** Without the `@`, which is in no media type: Go's clients refuse an answer that has it, and so the real server writes it so. */
const answered = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const swagger = '2.0';
const info = { title: 'Kubernetes', version: 'v1.36.4' };

/**
 * OpenAPI v2 without a type. kubectl looks there for what v3 lacks, such as `kind: List`: what is not in the document it takes
 * as it comes, and refuses it where there is no document. False for another path.
 */
export function answerOpenApiV2(exchange: Exchange): boolean {
  if (exchange.method !== 'GET' || exchange.path !== '/openapi/v2') return false;
  // kubectl reads nothing else, whatever the answer is.
  if (exchange.header('accept').includes(asked)) exchange.plain(200, documentMessage(), answered);
  else exchange.json(200, { swagger, info, paths: {}, definitions: {} });
  return true;
}

/** As `openapi.v2.Document` of gnostic: the version is field 1, and `Info` field 2, of which 1 is the title and 2 its version. */
function documentMessage(): Uint8Array {
  return new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string(swagger)
    .tag(2, WireType.LengthDelimited)
    .fork()
    .tag(1, WireType.LengthDelimited)
    .string(info.title)
    .tag(2, WireType.LengthDelimited)
    .string(info.version)
    .join()
    .finish();
}
