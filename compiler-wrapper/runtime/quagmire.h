/* Stands in for the runtime's interface until it is merged. */
#ifndef QUAGMIRE_H
#define QUAGMIRE_H
__attribute__((visibility("default"))) void __quagmire_register(void);
#endif
