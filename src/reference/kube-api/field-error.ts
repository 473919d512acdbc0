import type { FieldError } from './api-error.ts';

/** Field errors in the words of apimachinery's `field` package. */

export const required = (field: string, detail = ''): FieldError => ({
  reason: 'FieldValueRequired',
  message: detail === '' ? 'Required value' : `Required value: ${detail}`,
  field,
});

export const invalidValue = (field: string, value: unknown, detail: string): FieldError => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${JSON.stringify(value)}: ${detail}`,
  field,
});

export const typeInvalid = (field: string, value: unknown, detail: string): FieldError => ({
  ...invalidValue(field, value, detail),
  reason: 'FieldValueTypeInvalid',
});

export const notSupported = (field: string, value: unknown, supported: readonly unknown[]): FieldError => ({
  reason: 'FieldValueNotSupported',
  message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported.map((v) => JSON.stringify(v)).join(', ')}`,
  field,
});

export const forbiddenField = (field: string, detail: string): FieldError => ({
  reason: 'FieldValueForbidden',
  message: `Forbidden: ${detail}`,
  field,
});

export const duplicate = (field: string, value: unknown): FieldError => ({
  reason: 'FieldValueDuplicate',
  message: `Duplicate value: ${JSON.stringify(value)}`,
  field,
});

export const tooLong = (field: string, max: number): FieldError => ({
  reason: 'FieldValueTooLong',
  message: `Too long: may not be more than ${max} bytes`,
  field,
});

export const tooMany = (field: string, actual: number, max: number): FieldError => ({
  reason: 'FieldValueTooMany',
  message: `Too many: ${actual}: must have at most ${max} items`,
  field,
});
