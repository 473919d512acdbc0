const string = { type: 'string' };
const integer = { type: 'integer' };

const spec = {
  type: 'object',
  description: 'What is wanted.',
  required: ['color'],
  'x-kubernetes-validations': [
    {
      rule: '!has(self.min) || !has(self.max) || self.min <= self.max',
      messageExpression: "self.min > 5 ? 'min is too big' : 'max is too small'",
      reason: 'FieldValueForbidden',
      fieldPath: '.min',
    },
    { rule: '!has(self.free) || has(self.note)' },
  ],
  properties: {
    color: {
      type: 'string',
      description: 'The colour.',
      enum: ['red', 'green', 'blue'],
      'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'color is immutable' }],
    },
    size: { type: 'integer', format: 'int32', minimum: 1, maximum: 100, default: 3 },
    ratio: { type: 'number', exclusiveMinimum: true, minimum: 0, multipleOf: 0.5 },
    note: { type: 'string', maxLength: 10, nullable: true },
    blob: {
      type: 'string',
      maxLength: 100,
      'x-kubernetes-validations': [{ rule: 'bytes(self).size() <= 8', message: 'at most 8 bytes' }],
    },
    code: { type: 'string', minLength: 2, pattern: '^[a-z]+$' },
    min: integer,
    max: integer,
    active: { type: 'boolean', default: true },
    when: { type: 'string', format: 'date-time' },
    tags: { type: 'array', maxItems: 5, 'x-kubernetes-list-type': 'set', items: string },
    parts: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: string, value: integer, mode: { type: 'string', default: 'auto' } },
      },
    },
    atoms: { type: 'array', 'x-kubernetes-list-type': 'atomic', items: string },
    port: { 'x-kubernetes-int-or-string': true },
    labels: { type: 'object', additionalProperties: string, maxProperties: 3 },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { known: integer } },
    fixed: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: string, b: string } },
  },
};

const status = {
  type: 'object',
  default: { observedGeneration: -1 },
  properties: {
    observedGeneration: integer,
    phase: string,
    conditions: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
      items: {
        type: 'object',
        required: ['type', 'status'],
        properties: { type: string, status: string, reason: string },
      },
    },
  },
};

/** A definition with a bit of everything that the suite looks at. */
export const widgetCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.test.example.com' },
  spec: {
    group: 'test.example.com',
    names: {
      kind: 'Widget',
      listKind: 'WidgetList',
      plural: 'widgets',
      singular: 'widget',
      shortNames: ['wd'],
      categories: ['gadgets'],
    },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        selectableFields: ['.spec.color', '.spec.size', '.spec.active', '.status.phase'].map((jsonPath) => ({
          jsonPath,
        })),
        additionalPrinterColumns: [
          { name: 'COLOR', type: 'string', jsonPath: '.spec.color' },
          { name: 'SIZE', type: 'integer', jsonPath: '.spec.size' },
          { name: 'READY', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
          { name: 'NOTE', type: 'string', jsonPath: '.spec.note', priority: 1, description: 'the note' },
          { name: 'WHEN', type: 'date', jsonPath: '.spec.when', priority: 1 },
          { name: 'AGE', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            description: 'A widget.',
            type: 'object',
            required: ['spec'],
            properties: { apiVersion: string, kind: string, metadata: { type: 'object' }, spec, status },
          },
        },
      },
    ],
  },
};

const [version] = widgetCrd.spec.versions;
const schema = version?.schema.openAPIV3Schema;
const texts = [
  'date-time',
  'date',
  'uuid',
  'hostname',
  'ipv4',
  'ipv6',
  'cidr',
  'mac',
  'uri',
  'email',
  'byte',
  'duration',
  'hexcolor',
  'a format that nobody knows',
];

/** The same with a field for each format, and nullable ones. */
export const withFormats = {
  ...widgetCrd,
  spec: {
    ...widgetCrd.spec,
    versions: [
      {
        ...version,
        schema: {
          openAPIV3Schema: {
            ...schema,
            properties: {
              ...schema?.properties,
              spec: { ...spec, properties: { ...spec.properties, ...formatted() } },
            },
          },
        },
      },
    ],
  },
};

function formatted() {
  const ofType = (type: string, formats: readonly string[]) => ({
    type: 'object',
    properties: Object.fromEntries(formats.map((format) => [format, { type, format }])),
  });
  const integers = ofType('integer', ['int32', 'int64']);
  return {
    texts: ofType('string', texts),
    numbers: { ...integers, properties: { ...integers.properties, ...ofType('number', ['float']).properties } },
    nullable: {
      type: 'object',
      properties: {
        object: { type: 'object', nullable: true, properties: { a: string } },
        items: { type: 'array', items: { type: 'string', nullable: true } },
        text: { type: 'string', nullable: true, default: 'd' },
      },
    },
  };
}
