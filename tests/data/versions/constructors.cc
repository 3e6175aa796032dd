/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The constructor of B is inlined, that of A is not. */
struct A { unsigned v; __attribute__((noinline)) explicit A(int n); };
struct B { unsigned v; explicit B(int n) : v(1) {
    for (int i = 0; i < n; i++) {
        v += v << 3 ^ 5;
    }
} };
A::A(int n) : v(3) {
    for (int i = 0; i < n; i++) {
        v ^= v >> 2 ^ 77;
    }
}
__attribute__((noinline)) unsigned sum(int n) {
    unsigned s = 0;
    for (int i = 0; i < n; i++) {
        B b(i);
        s += b.v;
        A a(i % 7);
        s += a.v;
    }
    return s;
}
int main(int argc, char **) { return sum(60 * argc) == 1; }
