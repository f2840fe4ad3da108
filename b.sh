. /tmp/wt/env-cache
gcc -O1 -D_GNU_SOURCE -I src -I include -I/usr/lib/llvm-22/include /tmp/wk/stage.c build/h/CMakeFiles/weft_jit_objects.dir/src/jit/llvm/*.o build/h/CMakeFiles/weft_base.dir/src/base.c.o -o /tmp/wk/stage -L/usr/lib/llvm-22/lib -lLLVM-22 -lpthread -lm $@
